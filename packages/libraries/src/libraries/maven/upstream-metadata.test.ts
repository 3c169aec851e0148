import assert from "node:assert/strict";
import { test } from "node:test";
import { upstreamMetadata } from "./upstream-metadata.ts";

const APP = { groupId: "org.example", artifactId: "app" };
const FRESH = { modifiedMs: 5_000, previous: undefined };
const versions = (...list: string[]): string => list.map((one) => `<version>${one}</version>`).join("");
const metadata = (list: string, own = "<groupId>org.example</groupId><artifactId>app</artifactId>"): string =>
  `<metadata>${own}<versioning><release>1.1</release><versions>${list}</versions><lastUpdated>20260131101112</lastUpdated></versioning></metadata>`;

test("the releases of an artifact are read, each with a time at which it was there", () => {
  const first = upstreamMetadata(metadata(versions("1.0", "1.1", "2.0-SNAPSHOT", "1.0")), APP, FRESH);
  assert.deepEqual(first, {
    versions: [
      ["1.0", 5_000],
      ["1.1", 5_000],
    ],
    release: "1.1",
    updateMs: Date.UTC(2026, 0, 31, 10, 11, 12),
    plugins: [],
  });
  const second = upstreamMetadata(metadata(versions("1.1", "1.2")), APP, { modifiedMs: 9_000, previous: first });
  assert.deepEqual(second.versions, [
    ["1.1", 5_000],
    ["1.2", 9_000],
  ]);
});

test("versions that cannot be in a path are left out", () => {
  const list = versions("1.0", "..", "../../x", "1/2", "1 0", "", "%2e%2e", "1.0&amp;");
  assert.deepEqual(
    upstreamMetadata(metadata(list), APP, FRESH).versions.map(([version]) => version),
    ["1.0"],
  );
});

test("the plugins of a groupId are read", () => {
  const plugin = (prefix: string, artifactId: string): string =>
    `<plugin><name>Of ${prefix}</name><prefix>${prefix}</prefix><artifactId>${artifactId}</artifactId></plugin>`;
  const text = `<metadata><plugins>${plugin("greet", "greet-maven-plugin")}${plugin("a b", "x")}${plugin("x", "../x")}</plugins></metadata>`;
  assert.deepEqual(upstreamMetadata(text, APP, FRESH).plugins, [
    { name: "Of greet", prefix: "greet", artifactId: "greet-maven-plugin" },
  ]);
});

test("what is no metadata, or that of another artifact, is rejected with the reason", () => {
  const other = metadata(versions("1.0"), "<groupId>org.example</groupId><artifactId>other</artifactId>");
  const cases: [string, RegExp][] = [
    ["", /root is metadata/],
    ["<html><body>Sign in</body></html>", /root is metadata/],
    ["<metadata><versioning>", /root is metadata/],
    [`<metadata>${"<a>".repeat(100)}${"</a>".repeat(100)}</metadata>`, /root is metadata/],
    [other, /that of org\.example:other/],
  ];
  for (const [text, reason] of cases) assert.throws(() => upstreamMetadata(text, APP, FRESH), reason, text);
});
