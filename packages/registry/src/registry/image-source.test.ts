import assert from "node:assert/strict";
import test from "node:test";
import { parseImageSource, parseLocalSource } from "./image-source.ts";

test("a source is a host and a name; the scheme defaults to https", () => {
  const read = (text: string): string | undefined => {
    const source = parseImageSource(text);
    return source && `${source.origin} ${source.name}`;
  };
  for (const [text, expected] of [
    ["registry.example.com/team/app", "https://registry.example.com team/app"],
    ["registry:5000/app", "https://registry:5000 app"],
    ["https://Registry.Example.com:443/a/b__c", "https://registry.example.com a/b__c"],
    ["http://127.0.0.1:5000/app", "http://127.0.0.1:5000 app"],
    ["[2001:db8::1]:5000/app", "https://[2001:db8::1]:5000 app"],
    ["https://registry/app", "https://registry app"],
    ["localhost/app", "https://localhost app"],
  ] as const)
    assert.equal(read(text), expected, text);
  for (const text of [
    "",
    "app",
    "public/app",
    "/app",
    "registry.example.com/",
    "registry.example.com/app:v1",
    `registry.example.com/app@sha256:${"a".repeat(64)}`,
    "registry.example.com/App",
    "ftp://registry.example.com/app",
    "user:secret@registry.example.com/app",
    "https://user@registry.example.com/app",
    "registry.example.com:99999/app",
    "registry.example.com/a//b",
    "registry.example.com/../app",
    "registry.example.com/app?x",
    "registry.example.com/app\n",
    `registry.example.com/${"a".repeat(256)}`,
    "[::1/app",
    "-host/app",
  ])
    assert.equal(read(text), undefined, text);
});

test("a source of this installation is the uid of a repo, or a path without a host", () => {
  const uid = `${"a".repeat(40)}/${"0".repeat(16)}`;
  for (const text of [uid, "acme/web", "acme/team-a/web", "my_org/app"]) {
    assert.equal(parseLocalSource(text), text);
    assert.equal(parseImageSource(text), undefined);
  }
  for (const text of [
    "",
    "acme",
    "a".repeat(40),
    "acme.io/web",
    "localhost/web",
    "acme:80/web",
    "acme/Web",
    "acme/web:v1",
    "/web",
  ])
    assert.equal(parseLocalSource(text), undefined, text);
});
