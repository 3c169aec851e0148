import assert from "node:assert/strict";
import { test } from "node:test";
import { allowlistIn, gatePolicies } from "./harbor-gate.ts";

const NOW_MS = Date.parse("2026-01-01T00:00:00Z");
const seconds = (time: string): number => Date.parse(time) / 1000;

/** The mode of the gate that a project with this list of allowed CVEs gets, and what is said of the list. */
function outcomeOf(allowlist: unknown): [unknown, string | undefined] {
  const project = {
    name: "acme",
    id: 1,
    retention: "",
    registry: undefined,
    metadata: { severity: "High" },
    allowlist,
  };
  const found = [...gatePolicies(project, ["acme/app"], allowlistIn(allowlist), NOW_MS)];
  const gate = found.find(({ kind }) => kind === "gate");
  assert.equal(gate?.settings?.["severity"], "FINDING_SEVERITY_HIGH");
  return [gate.settings["mode"], found.find(({ kind }) => kind === "setting")?.fault?.split(";")[0]];
}

test("a gate enforces only where no vulnerability passes by a list there", () => {
  const items = [{ cve_id: "CVE-2024-1" }];
  const [ENFORCE, PREVIEW] = ["GATE_MODE_ENFORCE", "GATE_MODE_PREVIEW"];
  const end = "2026-06-01T00:00:00.000Z";
  for (const [allowlist, mode, said] of [
    [undefined, ENFORCE, undefined],
    [null, ENFORCE, undefined],
    [{ items: [] }, ENFORCE, undefined],
    [{ items: null, expires_at: null }, ENFORCE, undefined],
    [{ items, expires_at: seconds("2025-06-01T00:00:00Z") }, ENFORCE, undefined],
    [{ items }, PREVIEW, "lets pass CVE-2024-1"],
    [{ items, expires_at: seconds(end) }, PREVIEW, `lets pass CVE-2024-1 until ${end}`],
    [{ items: [null], expires_at: null }, PREVIEW, "cannot be read"],
    [{ items: [{ cve_id: "CVE-1\n" }] }, PREVIEW, "cannot be read"],
    [{ items, expires_at: 1e300 }, PREVIEW, "cannot be read"],
    [{ items: "CVE-2024-1" }, PREVIEW, "cannot be read"],
    ["CVE-2024-1", PREVIEW, "cannot be read"],
  ] as const)
    assert.deepEqual(outcomeOf(allowlist), [mode, said], JSON.stringify(allowlist));
});
