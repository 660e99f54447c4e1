"""The preview as text: goldens."""

from extensor.cli.what_if_text import what_if_text
from extensor.contract import Unknown, format_path
from extensor.engine.results import Change, PropertyChange, WhatIfResult

CREATE = Change(
    "Create",
    "pages[0]",
    "file@1.0",
    {"path": "index.html"},
    (
        PropertyChange("$.properties.path", "Create", None, "index.html"),
        PropertyChange("$.properties.content", "Create", None, Unknown("[reference('title').text]")),
        PropertyChange("$.properties.tags", "Create", None, {"team": "web", "cost-centre": None}),
    ),
)
MODIFY = Change(
    "Modify",
    "vnet",
    "network@1.0",
    {"name": "main"},
    (
        PropertyChange("$.properties.sku.tier", "Modify", "free", "paid"),
        PropertyChange("$.properties.owner", "Delete", "Team A", None),
        PropertyChange("$.properties.password", "Modify", "***", "***"),
        PropertyChange("$.properties['app.io/name']", "Create", None, True),
        PropertyChange(
            "$.properties.subnets",
            "Create",
            None,
            [{"name": "a", "prefix": "10.0.1.0/24", "delegations": []}, {"name": "b", "prefix": "10.0.2.0/24"}],
        ),
    ),
)
DELETE = Change(
    "Delete", "old", "file@1.0", {"path": "old.txt"}, (PropertyChange("$.properties.path", "Delete", "old.txt"),)
)
BLIND = Change("Unsupported", "late", "note@1.0", {}, (), "the identifiers are not known before the deployment")


def test_a_preview_in_the_style_of_arm() -> None:
    assert (
        what_if_text(WhatIfResult((CREATE, MODIFY, BLIND, DELETE), 2))
        == """\
What would change (- delete, + create, ~ modify, x cannot be previewed):

  - old  file@1.0  path: "old.txt"
      path: "old.txt"

  + pages[0]  file@1.0  path: "index.html"
      path:    "index.html"
      content: (known after deploy: [reference('title').text])
      tags:    {"team": "web", "cost-centre": null}

  ~ vnet  network@1.0  name: "main"
    - owner:           "Team A"
    + ['app.io/name']: true
    + subnets:         [
        0: {"name": "a", "prefix": "10.0.1.0/24", "delegations": []}
        1: {"name": "b", "prefix": "10.0.2.0/24"}
      ]
    ~ password:        "***" => "***"
    ~ sku.tier:        "free" => "paid"

  x late  note@1.0
      the identifiers are not known before the deployment

Resource changes: 1 to delete, 1 to create, 1 to modify, 1 that cannot be previewed, 2 without change."""
    )


def test_colour_goes_round_symbols_and_never_round_values() -> None:
    text = what_if_text(WhatIfResult((MODIFY,), 0), lambda text, colour: f"<{colour}>{text}</>")
    assert "  <purple>~ vnet</>  network@1.0" in text
    assert '    <purple>~ sku.tier:       </> "free" => "paid"' in text
    assert '    <orange>- owner:          </> "Team A"' in text


def test_nothing_to_change_is_one_line() -> None:
    assert what_if_text(WhatIfResult((), 25)) == "No change: all 25 resources are as the template says."
    assert what_if_text(WhatIfResult((), 1)) == "No change: 1 resource is as the template says."
    assert what_if_text(WhatIfResult((), 0)) == "Nothing to deploy: the template and the record hold no resource."


def test_properties_that_cannot_be_compared_are_named() -> None:
    one = what_if_text(WhatIfResult((), 1, (), (("home", "$.properties.password"),)))
    assert one == (
        "1 write-only property cannot be compared, so that it may change: home.password\n\n"
        "No change: 1 resource is as the template says."
    )
    many = what_if_text(WhatIfResult((), 9, (), tuple((f"r[{index}]", "$.properties.a.b") for index in range(9))))
    assert many.startswith("9 write-only properties cannot be compared, so that they may change: r[0].a.b, r[1].a.b, ")
    assert ", r[4].a.b, …\n" in many


def test_long_texts_show_where_they_differ() -> None:
    before, after = "x" * 5000 + "\nold end", "x" * 5000 + "\nnew end"
    change = Change("Modify", "a", "file@1.0", {}, (PropertyChange("$.properties.content", "Modify", before, after),))
    text = what_if_text(WhatIfResult((change,), 0))
    assert (
        '~ content: "…xxxxxxxxxxx\\nold end" (5,008 characters) => "…xxxxxxxxxxx\\nnew end" (5,008 characters)' in text
    )


def test_nothing_of_a_resource_can_steer_the_terminal() -> None:
    evil = "\x1b[2J\x9b\x07\u202e"
    small, large = {evil: 1}, {evil: [evil] * 20, "deep": {evil: Unknown(f"[f('{evil}')]")}}
    values = (evil, small, large, [large], Unknown(f"[reference('{evil}')]"))
    deltas = tuple(
        PropertyChange(format_path(("properties", evil, f"{place}{evil}")), "Create", None, value)
        for place, value in enumerate(values)
    )
    change = Change("Create", evil, "file@1.0", {"path": evil, evil: "x"}, deltas, reason=evil)
    gone = Change("Delete", "b", "file@1.0", {evil: large})
    text = what_if_text(WhatIfResult((change, gone), 0))
    assert not set(evil) - {"[", "2", "J"} & set(text)
    assert 'path: "\\u001b[2J\\u009b\\u0007\\u202e"' in text
