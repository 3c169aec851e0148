import assert from "node:assert/strict";
import { test } from "node:test";
import { installLines } from "./install-lines.ts";

const PLACE = { origin: "https://registry.example.com", group: "acme/team" };

test("a scoped package is set up for its scope alone, others for all packages", () => {
  const lines = (name: string) => installLines({ ...PLACE, ecosystem: "ECOSYSTEM_JAVASCRIPT", name, version: "1.0.0" });
  assert.equal(lines("@acme/ui")[0]?.install, "npm install @acme/ui@1.0.0");
  assert.equal(lines("@acme/ui")[0]?.setup, "@acme:registry=https://registry.example.com/npm/acme/team/");
  assert.equal(lines("pad")[3]?.install, "bun add pad@1.0.0");
  assert.equal(lines("pad")[0]?.setup, "registry=https://registry.example.com/npm/acme/team/");
});

test("the index of a group is in the lines of Python, its coordinates in those of Java", () => {
  const [pip] = installLines({ ...PLACE, ecosystem: "ECOSYSTEM_PYTHON", name: "ledger", version: "2.0" });
  assert.equal(pip?.install, "pip install ledger==2.0");
  assert.match(pip?.setup ?? "", /\/pypi\/acme\/team\/simple\/$/);
  const [maven, gradle] = installLines({ ...PLACE, ecosystem: "ECOSYSTEM_JAVA", name: "com.acme:pay", version: "1" });
  assert.match(maven?.install ?? "", /<artifactId>pay<\/artifactId>/);
  assert.equal(gradle?.install, 'implementation("com.acme:pay:1")');
});

test("what a shell would read is quoted", () => {
  const odd = installLines({ ...PLACE, ecosystem: "ECOSYSTEM_JAVASCRIPT", name: "a", version: "1;reboot" });
  assert.equal(odd[0]?.install, "npm install 'a@1;reboot'");
});
