"""What a run writes down about its resources, as a deployment sees it: intents, outcomes, and what is left over."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from extensor.contract import JsonObject
from extensor.engine.identity import Identity, canonical, identity, type_name
from extensor.engine.records import ProviderRecord, Record
from extensor.engine.state import StackState


class Register:
    """The records of one stack during one run, to look things up in.

    A record follows its resource, not its symbol: a resource that the template now calls by another name keeps its
    record, and a symbol that now names another resource gets a new one while the old one is left over.
    """

    def __init__(self, records: Mapping[int, Record], providers: Mapping[int, ProviderRecord]) -> None:
        self._records = records
        self._providers = providers
        self._alive: set[int] = set()
        self._alive_elsewhere: dict[Identity, tuple[str, str | None, bool]] = {}
        self._by_identity: dict[Identity, list[Record]] = {}
        self._by_symbol: dict[str, list[Record]] = {}
        for record in records.values():
            self._index(record)

    def find(self, symbol: str, type_: str, provider: ProviderRecord, wanted: JsonObject | None) -> Record | None:
        """The record of the resource that a template's instance means, if there is one that no other instance claimed.

        Without identifiers the symbol decides. A record that was made with another configuration is passed over when it
        names its control plane: whether that is the same one is known only after the save.
        """
        if wanted is None:
            candidates = [
                record
                for record in self._by_symbol.get(symbol, ())
                if type_name(record.type) == type_name(type_) and self._provider_name(record) == provider.name.lower()
            ]
        else:
            candidates = self._by_identity.get(identity(provider.name, type_, wanted), [])
        free = [
            record
            for record in candidates
            if record.id in self._records
            and record.id not in self._alive
            and (record.config_id is None or self._providers[record.provider].config == provider.config)
        ]
        return next((record for record in free if record.symbol == symbol), free[0] if free else None)

    def claim(self, record: Record) -> None:
        """An instance of the template is this record's resource."""
        self._alive.add(record.id)

    def claim_symbol(self, symbol: str) -> None:
        """Nobody can tell which resource an instance means: none that had its name counts as left over."""
        for record in self._by_symbol.get(symbol, ()):
            self._alive.add(record.id)

    def claim_unrecorded(
        self,
        provider: str,
        type_: str,
        identifiers: JsonObject,
        symbol: str,
        config_id: str | None = None,
        *,
        absent: bool = False,
    ) -> None:
        """The template reads this resource, or is going to make it: it must not be deleted as left over.

        `config_id` names its control plane, where the provider has said so. `absent`: there is no such resource yet, so
        that one of the same identity which is there is in another control plane.
        """
        self._alive_elsewhere[identity(provider, type_, identifiers)] = symbol, config_id, absent

    def left_over(self) -> list[Record]:
        """Records that no instance of the template claimed, in the order in which they were saved."""
        return sorted(
            (record for record in self._records.values() if record.id not in self._alive),
            key=lambda record: record.sequence,
        )

    def alive_twin(self, record: Record) -> str | None:
        """The symbol of what is alive under the same identity, so that deleting this record would delete that.

        Records of different control planes are no twins, if both name theirs.
        """
        for key in self._identities(record):
            if key in self._alive_elsewhere:
                symbol, config_id, absent = self._alive_elsewhere[key]
                apart = absent if config_id is None else config_id != record.config_id
                if record.config_id is None or not apart:
                    return symbol
            for other in self._by_identity.get(key, ()):
                if (
                    other.id != record.id
                    and other.id in self._alive
                    and key in self._identities(other)
                    and not _apart(record, other)
                ):
                    return other.symbol
        return None

    def _same(self, record: Record) -> list[Record]:
        """Other records whose provider answered the same identifiers in the same control plane."""
        if not record.identifiers:
            return []
        key = identity(self._provider_name(record), record.type, record.identifiers)
        return [
            other
            for other in self._by_identity.get(key, ())
            if other.id != record.id
            and other.id in self._records
            and other.id not in self._alive
            and other.identifiers == record.identifiers
            and not _apart(record, other)
        ]

    def _index(self, record: Record) -> None:
        for key in self._identities(record):
            known = self._by_identity.setdefault(key, [])
            if record not in known:
                known.append(record)
        known = self._by_symbol.setdefault(record.symbol, [])
        if record not in known:
            known.append(record)

    def _identities(self, record: Record) -> set[Identity]:
        provider = self._provider_name(record)
        return {identity(provider, record.type, ids) for ids in (record.wanted, record.identifiers) if ids}

    def _provider_name(self, record: Record) -> str:
        return self._providers[record.provider].name.lower()


class Ledger(Register):
    """The same, to write in: each method returns when what it says is on disk."""

    def __init__(self, state: StackState, run_id: str) -> None:
        super().__init__(state.records, state.providers)
        self._state = state
        self._run_id = run_id

    async def intend_save(
        self,
        symbol: str,
        type_: str,
        provider: ProviderRecord,
        wanted: JsonObject | None,
        depends_on: Iterable[str],
        secret: Iterable[str] = (),
    ) -> Record:
        """Have the intent to save on disk. The record it returns takes the outcome.

        `secret` names the properties that depend on a secret now; those of the last save may still be there.
        """
        record = self.find(symbol, type_, provider, wanted)
        if record is None:
            record = Record(self._state.new_id(), symbol, type_, provider.id, wanted, wanted, "Saving", made=False)
        self.claim(record)
        record.symbol, record.type, record.provider = symbol, type_, provider.id
        record.wanted = wanted
        record.identifiers = record.identifiers or wanted
        record.depends_on = tuple(depends_on)
        record.secret = tuple(sorted({*record.secret, *secret}))
        record.sequence = self._state.next_sequence()
        record.run = self._run_id
        record.status = "Saving"
        record.note = None
        await self._state.write(record)
        self._index(record)
        return record

    async def saved(
        self, record: Record, identifiers: JsonObject, config_id: str | None, secret: Iterable[str] = ()
    ) -> None:
        """A save succeeded. Another record of the same resource is dropped.

        Where only the symbol said which resource was meant, other identifiers than before mean another resource; then
        the former one is left over.
        """
        former = record.identifiers
        if record.wanted is None and former and identifiers and canonical(former) != canonical(identifiers):
            old = replace(record, id=self._state.new_id(), status="Saved", note="another resource took its name")
            await self._state.write(old)
            self._index(old)
        record.identifiers = identifiers or record.identifiers
        record.config_id = config_id
        record.secret = tuple(sorted(secret))
        record.made = True
        record.status = "Saved"
        record.note = None
        await self._state.write(record)
        self._index(record)
        for other in self._same(record):
            self._alive.discard(other.id)
            await self._state.remove(other)

    async def save_failed(
        self, record: Record, note: str, *, refused: bool, unclear: bool, identifiers: JsonObject | None
    ) -> None:
        """A save failed. Only what was `refused` and never made before is taken as not existing."""
        record.identifiers = identifiers or record.identifiers
        record.made = record.made or not refused
        record.status = "Unclear" if unclear else "Failed"
        record.note = note
        await self._state.write(record)

    async def intend_delete(self, record: Record) -> None:
        """Have the intent to delete on disk."""
        record.status = "Deleting"
        record.run = self._run_id
        record.note = None
        await self._state.write(record)

    async def deleted(self, record: Record) -> None:
        """A resource is gone, or need not be remembered any more."""
        await self._state.remove(record)

    async def delete_failed(self, record: Record, note: str, *, unclear: bool) -> None:
        """A delete failed; the record stays."""
        record.status = "Unclear" if unclear else "Failed"
        record.note = note
        await self._state.write(record)


def _apart(one: Record, other: Record) -> bool:
    return one.config_id is not None and other.config_id is not None and one.config_id != other.config_id
