import assert from "node:assert/strict";
import { test } from "node:test";
import { sinkTestWords } from "./sink-test-words.ts";

test("a test says whether it was delivered, what came back, and after how long", () => {
  const words = (outcome: object): string =>
    sinkTestWords({ delivered: false, status: 0, error: "", latency: "0.084s", ...outcome });
  assert.equal(words({ delivered: true, status: 204 }), "Delivered: the answer was 204, after 0.1 s");
  assert.equal(words({ status: 302 }), "Not delivered: the answer was 302, after 0.1 s");
  assert.equal(
    words({ error: "no answer within 10000 ms", latency: "10.002s" }),
    "Not delivered: no answer within 10000 ms, after 10.0 s",
  );
  assert.equal(
    words({ error: "the connection was refused", latency: undefined }),
    "Not delivered: the connection was refused",
  );
});
