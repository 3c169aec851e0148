import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import test from "node:test";
import { createSecrets, isSealed, SecretError } from "./secrets.ts";

test("sealed text opens only with the same key and for the same place", () => {
  const [first, second] = [randomBytes(32), randomBytes(32)];
  const secrets = createSecrets([first]);
  const sealed = secrets.seal("the private half", "signing_keys:a");
  assert.ok(isSealed(sealed) && !sealed.includes("private"));
  assert.notEqual(secrets.seal("the private half", "signing_keys:a"), sealed);
  assert.equal(secrets.open(sealed, "signing_keys:a"), "the private half");
  assert.throws(() => secrets.open(sealed, "signing_keys:b"), SecretError);
  assert.throws(() => createSecrets([second]).open(sealed, "signing_keys:a"), SecretError);
  const changed = sealed.slice(0, -3) + (sealed.endsWith("AAA") ? "BBB" : "AAA");
  assert.throws(() => secrets.open(changed, "signing_keys:a"), SecretError);
  assert.throws(() => secrets.open("s1.00000000.AA", "signing_keys:a"), SecretError);
});

test("a new key seals from now on, and text sealed with the old key still opens", () => {
  const [old, fresh] = [randomBytes(32), randomBytes(32)];
  const sealed = createSecrets([old]).seal("kept", "place");
  const both = createSecrets([fresh, old]);
  assert.equal(both.open(sealed, "place"), "kept");
  assert.equal(both.isCurrent(sealed), false);
  assert.equal(both.isCurrent(both.seal("kept", "place")), true);
  assert.throws(() => createSecrets([]), SecretError);
});
