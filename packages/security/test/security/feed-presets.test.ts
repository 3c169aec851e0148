import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { checkedDefinition, FeedDefinitionError } from "../../src/security/feeds/definition.ts";
import { FEED_PRESETS, PRESET_GROUPS, presetAddress, presetsNamed } from "../../src/security/feeds/presets.ts";

const names = (...words: string[]): string[] => presetsNamed(words).map(({ name }) => name);

test("each preset is a feed that an operator may add, and is found by its name and its ecosystem", () => {
  assert.ok(FEED_PRESETS.length >= 16);
  for (const preset of FEED_PRESETS) {
    const { name, format, address, licence, intervalMs } = preset;
    const definition = { name, format, address, licence, intervalMs, products: [] };
    assert.deepEqual(checkedDefinition(definition, { allowPrivateNetwork: false }), definition);
    assert.deepEqual(names(name.toUpperCase()), [name]);
    for (const ecosystem of preset.ecosystems) assert.deepEqual(names(ecosystem), [name]);
  }
  assert.equal(new Set(FEED_PRESETS.map(({ name }) => name)).size, FEED_PRESETS.length);
});

test("osv means all languages, or those that follow it; distributions are presets of their own", () => {
  const languages = PRESET_GROUPS.find(({ name }) => name === "osv")?.presets ?? [];
  assert.ok(["osv-npm", "osv-pypi", "osv-maven", "osv-go", "osv-crates.io"].every((each) => languages.includes(each)));
  assert.deepEqual(names("osv"), languages);
  assert.deepEqual(names("osv", "all", "kev"), [...languages, "kev"]);
  assert.deepEqual(names("osv", "npm", "PyPI", "kev", "npm"), ["osv-npm", "osv-pypi", "kev"]);
  // Whoever names a distribution after it has not asked for fewer languages.
  assert.deepEqual(names("osv", "debian", "kev"), [...languages, "debian", "kev"]);
  assert.throws(() => names("osv", "npn"), FeedDefinitionError);
});

test("a mirror has the file of a preset under the path that it has where it is published", () => {
  const [redhat] = presetsNamed(["Red Hat"]);
  assert.ok(redhat !== undefined);
  assert.equal(presetAddress(redhat, ""), "https://osv-vulnerabilities.storage.googleapis.com/Red%20Hat/all.zip");
  for (const mirror of ["https://mirror.example/feeds", "https://mirror.example/feeds/"])
    assert.equal(presetAddress(redhat, mirror), "https://mirror.example/feeds/Red%20Hat/all.zip");
});

test("the table of the documentation says what the presets say", () => {
  const text = readFileSync(new URL("../../../../docs/security-data.md", import.meta.url), "utf8");
  const [, section = ""] = text.split("\n### Presets\n");
  const [table = ""] = section.split("\n### ");
  for (const { name, covers, intervalMs, licence } of FEED_PRESETS) {
    const row = `| \`${name}\` | ${covers} | ${intervalMs / 3_600_000}h | ${licence} |`;
    // Languages have their rows as they come.
    if (!name.startsWith("osv-") || table.includes(`| \`${name}\``)) assert.ok(table.includes(row), row);
  }
});
