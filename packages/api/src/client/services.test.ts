import assert from "node:assert/strict";
import { test } from "node:test";
import * as api from "../index.ts";
import { SERVICES } from "./services.ts";

test("a client has every service of the API but the one that gives out tokens", () => {
  const all = Object.values(api).flatMap((value) =>
    typeof value === "object" && "kind" in value && value.kind === "service" ? [value.typeName] : [],
  );
  const offered = Object.values(SERVICES).map(({ typeName }) => typeName as string);
  assert.ok(all.length > offered.length);
  // Tokens come from `credentials`.
  assert.deepEqual([...offered, api.SecurityTokenService.typeName].sort(), all.sort());
});
