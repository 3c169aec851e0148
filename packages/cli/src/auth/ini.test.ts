import assert from "node:assert/strict";
import { test } from "node:test";
import { NPM, parseIni, PIP, settingOf, withSetting } from "./ini.ts";
import { withIndex } from "./pip.ts";

const INDEX = "https://__token__@registry.example.com/pypi/acme/simple/";

test("a setting of pip is changed where it stands, whatever its spelling; all other lines stay", () => {
  const before = [
    "; mine",
    "[install]",
    "no-compile = yes",
    "[global]",
    "Index_URL: https://ada:hidden@pypi.example.com/simple",
    "extra-index-url =",
    "    https://one.example.com/simple",
    "    # not this one",
    "    https://two.example.com/simple",
    "timeout=5",
    "",
    "[list]",
    "format = columns",
    "",
  ].join("\n");
  const { text, changes } = withIndex("pip.conf", before, "index-url", INDEX, true);
  assert.equal(
    text,
    before
      .replace("Index_URL: https://ada:hidden@pypi.example.com/simple", `index-url = ${INDEX}`)
      .replace("timeout=5\n", "timeout=5\nkeyring-provider = subprocess\n"),
  );
  assert.deepEqual(changes, [
    "- [global] index-url = https://ada:…@pypi.example.com/simple",
    `+ [global] index-url = ${INDEX}`,
    "+ [global] keyring-provider = subprocess",
  ]);
  assert.deepEqual(withIndex("pip.conf", text, "index-url", INDEX, true), { text, changes: [] });
});

test("an extra index stands beside the others, and is taken out alone", () => {
  const before = "[global]\r\nextra-index-url = https://one.example.com/simple\r\nkeyring-provider = subprocess\r\n";
  const { text } = withIndex("pip.conf", before, "extra-index-url", INDEX, true);
  assert.equal(
    text,
    `[global]\r\nextra-index-url = \r\n    https://one.example.com/simple\r\n    ${INDEX}\r\nkeyring-provider = subprocess\r\n`,
  );
  const settings = parseIni("pip.conf", text, PIP);
  assert.equal(settingOf(settings, "global", "extra-index-url")?.value, `https://one.example.com/simple\n${INDEX}`);
  const gone = withIndex("pip.conf", text, "extra-index-url", INDEX, false);
  assert.equal(gone.text, "[global]\r\nextra-index-url = https://one.example.com/simple\r\n");
  assert.deepEqual(withIndex("pip.conf", gone.text, "extra-index-url", INDEX, false).changes, []);
});

test("a pip.conf that pip would not read is an error with the line", () => {
  for (const [text, words] of [
    ["index-url = a\n", /^pip\.conf is damaged, .*: line 1 is in no section$/],
    ["[global]\nhidden\n", /line 2 is no setting$/],
    ["[global]\ntimeout = 1\n\n[global]\n", /line 4 begins \[global\] a second time$/],
    ["[global]\nindex-url = a\nindex_url = b\n", /line 3 sets index_url a second time$/],
  ] as [string, RegExp][])
    assert.throws(() => withIndex("pip.conf", text, "index-url", INDEX, true), { message: words });
});

test("settings of npm stand before its sections, and of one that is there twice all are changed", () => {
  const before =
    "registry=https://one.example.com/\n# mine\nregistry = https://two.example.com/\n\n[section]\nregistry=x\n";
  const changed = withSetting(parseIni(".npmrc", before, NPM), "", "registry", "https://three.example.com/");
  assert.equal(changed, "# mine\nregistry=https://three.example.com/\n\n[section]\nregistry=x\n");
  const added = withSetting(parseIni(".npmrc", "[section]\na=b\n", NPM), "", "c", "d");
  assert.equal(added, "c=d\n[section]\na=b\n");
  assert.equal(withSetting(parseIni(".npmrc", "a=b", NPM), "", "a", undefined), "");
});
