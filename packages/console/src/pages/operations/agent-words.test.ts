import assert from "node:assert/strict";
import { test } from "node:test";
import { agentWords } from "./agent-words.ts";

test("browsers are named with their system, others by what they call themselves", () => {
  const browser = (userAgent: string): string => agentWords({ kind: "SESSION_KIND_BROWSER", userAgent });
  const chrome = "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36";
  assert.equal(browser(chrome), "Chrome on Windows");
  assert.equal(browser(`${chrome} Edg/140.0`), "Edge on Windows");
  assert.equal(browser("Mozilla/5.0 (iPhone) AppleWebKit/605 Version/18 Mobile Safari/604"), "Safari on iOS");
  assert.equal(browser("curl/8.0"), "curl/8.0");
  assert.equal(browser(""), "a browser");
  assert.equal(agentWords({ kind: "SESSION_KIND_PROGRAM", userAgent: "" }), "a program");
});
