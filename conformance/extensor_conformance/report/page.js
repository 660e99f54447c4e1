"use strict";
(() => {
  const outcomes = [...document.querySelectorAll("details.outcome")];
  const verdicts = [...document.querySelectorAll("button[data-verdict]")];
  const group = document.getElementById("group");
  const type = document.getElementById("type");
  const words = document.getElementById("words");
  const none = document.getElementById("none");
  const shown = document.getElementById("shown");

  const apply = () => {
    const on = new Set(verdicts.filter((b) => b.getAttribute("aria-pressed") === "true").map((b) => b.dataset.verdict));
    const wanted = words.value.trim().toLowerCase();
    let count = 0;
    for (const one of outcomes) {
      const visible =
        on.has(one.dataset.verdict) &&
        (!group.value || one.dataset.group === group.value) &&
        (!type.value || one.dataset.type === type.value) &&
        (!wanted || one.textContent.toLowerCase().includes(wanted));
      one.hidden = !visible;
      count += visible ? 1 : 0;
    }
    none.hidden = count > 0;
    shown.textContent = `${count} of ${outcomes.length}`;
  };

  for (const button of verdicts) {
    button.addEventListener("click", (event) => {
      if (event.altKey || event.shiftKey) {
        for (const other of verdicts) other.setAttribute("aria-pressed", String(other === button));
      } else {
        button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
      }
      apply();
    });
  }
  for (const field of [group, type, words]) field.addEventListener("input", apply);
  for (const button of document.querySelectorAll("button[data-group]")) {
    button.addEventListener("click", () => {
      group.value = button.dataset.group;
      for (const other of verdicts) other.setAttribute("aria-pressed", "true");
      apply();
      document.getElementById("outcomes").scrollIntoView();
    });
  }

  const copied = (button) => {
    const before = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = before; }, 1500);
  };
  const copyOldWay = (text) => {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  };
  for (const button of document.querySelectorAll("button.copy")) {
    button.addEventListener("click", async () => {
      const text = button.parentElement.querySelector("pre").textContent;
      try {
        await navigator.clipboard.writeText(text);
        copied(button);
      } catch {
        if (copyOldWay(text)) copied(button);
      }
    });
  }

  for (const button of document.querySelectorAll("button.pretty")) {
    button.addEventListener("click", () => {
      const pressed = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(pressed));
      for (const frame of button.parentElement.querySelectorAll("pre")) {
        frame.dataset.raw ??= frame.textContent;
        frame.textContent = frame.dataset.raw;
        if (!pressed) continue;
        try { frame.textContent = JSON.stringify(JSON.parse(frame.dataset.raw), null, 2); } catch { continue; }
      }
    });
  }

  const named = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (named) { named.open = true; named.scrollIntoView(); }
  apply();
})();
