import assert from "node:assert/strict";
import { test } from "node:test";
import { mirrorSource } from "./mirror-source.ts";

test("a pasted reference becomes a source without its tag, which becomes the pattern", () => {
  const cases: readonly (readonly [text: string, source: string, name: string, tagPattern: string])[] = [
    ["registry.example.com/team/app:1.2", "registry.example.com/team/app", "app", String.raw`1\.2`],
    ["docker pull registry.example.com:5000/app", "registry.example.com:5000/app", "app", ""],
    ["https://registry.example.com/app:v1", "https://registry.example.com/app", "app", "v1"],
    [" acme/team/App ", "acme/team/App", "app", ""],
    [`acme/app@sha256:${"0".repeat(64)}`, "acme/app", "app", ""],
  ];
  for (const [text, source, name, tagPattern] of cases)
    assert.deepEqual(mirrorSource(text), { source, name, tagPattern }, text);
});
