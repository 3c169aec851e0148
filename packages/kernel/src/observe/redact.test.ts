import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutSecrets } from "./redact.ts";

test("passwords in URLs, tokens in headers and fields with secret names are hidden, the rest stays", () => {
  const shown = withoutSecrets({
    message: "cannot reach postgres://moorage:hunter2@db:5432/moorage",
    code: "ECONNREFUSED",
    port: 5432,
    config: {
      connectionString: "postgres://x",
      headers: [{ Authorization: "Bearer abc" }, "authorization: Bearer eyJhbGciOi.x.y"],
    },
    password: "hunter2",
  });
  assert.deepEqual(shown, {
    message: "cannot reach postgres://moorage:***@db:5432/moorage",
    code: "ECONNREFUSED",
    port: 5432,
    config: { connectionString: "***", headers: [{ Authorization: "***" }, "authorization: Bearer ***"] },
    password: "***",
  });
});

test("a circular value ends", () => {
  const circle: Record<string, unknown> = { name: "x" };
  circle["self"] = circle;
  assert.ok(JSON.stringify(withoutSecrets(circle)).includes("[deeper]"));
});
