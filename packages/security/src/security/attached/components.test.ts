import assert from "node:assert/strict";
import { test } from "node:test";
import { componentOf } from "./components.ts";

const NOTHING = { version: "", licence: "", sourceName: "", sourceVersion: "", layer: "", path: "" };
const purlOf = (purl: string): string | undefined =>
  componentOf({ ...NOTHING, purl }, "test", { id: "debian", version: "12" })?.purl;

test("the distribution of a purl is written as its ID and version, however a document has it", () => {
  const cases: [string, string][] = [
    ["debian-12", "debian-12"],
    ["redhat-9.4", "rhel-9.4"],
    ["opensuse-leap-15.6", "opensuse-leap-15.6"],
    ["alpine-v3.20", "alpine-3.20"],
    ["v12.5", "debian-12"],
    ["9", "debian-9"],
    ["a-1-2", "a-1-2"],
    ["bookworm", "debian-12"],
    ["trixie", "debian-13"],
    ["debian-bullseye", "debian-11"],
    ["noble", "ubuntu-24.04"],
    ["a+b-1", "debian-12"],
  ];
  for (const [stated, written] of cases)
    assert.equal(
      purlOf(`pkg:deb/debian/a@1?distro=${stated.replaceAll("+", "%2B")}`),
      `pkg:deb/debian/a@1?distro=${written}`,
      stated,
    );
});

test("a distribution of many dashes is none", () => {
  assert.equal(purlOf(`pkg:deb/debian/a@1?distro=V${"-0".repeat(900)}%00`), "pkg:deb/debian/a@1?distro=debian-12");
});
