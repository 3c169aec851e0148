import assert from "node:assert/strict";
import { test } from "node:test";
import { shownHost } from "./registry-host.ts";

const page = (url: string) => new URL(url);

test("the registry's host is that of its URL, and where that is the server's own machine, that of the page", () => {
  for (const [registry, at, shown] of [
    ["https://images.example", "https://moorage.example/", "images.example"],
    ["https://images.example:8443", "http://localhost:8080/", "images.example:8443"],
    ["http://127.0.0.1:8080", "http://registry.lan:8080/repos", "registry.lan:8080"],
    ["http://[::1]:8080", "http://192.168.1.20:8080/", "192.168.1.20:8080"],
    ["http://127.0.0.1:8080", "http://localhost:8080/", "127.0.0.1:8080"],
    ["http://localhost.example:8080", "http://registry.lan:8080/", "localhost.example:8080"],
  ] as const)
    assert.equal(shownHost(registry, page(at)), shown, at);
});
