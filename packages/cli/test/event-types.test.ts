import assert from "node:assert/strict";
import { test } from "node:test";
import { openQuick } from "./quick.ts";

const SINK = "http://127.0.0.1:9/";

test("types of events are listed, and subscriptions take them as the feed shows them", async (t) => {
  const { as, done } = await openQuick(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  const types = (await done("events", "types", "--no-headers")).split("\n").map((line) => line.split(" ")[0]);
  for (const type of ["registry.push.v1", "api.iam.identity.created.v1", "api.platform.registry.tag.updated.v1"])
    assert.ok(types.includes(type), type);
  const prefixes = async (...given: string[]): Promise<unknown> => {
    const flags = given.flatMap((type) => ["--type-prefixes", type]);
    const { code, stdout, stderr } = await as(
      "subscriptions",
      "create",
      "acme",
      "--sink",
      SINK,
      ...flags,
      "-o",
      "json",
    );
    assert.equal(code, 0, stderr);
    return (JSON.parse(stdout) as { typePrefixes: unknown }).typePrefixes;
  };
  assert.deepEqual(
    await prefixes("registry.push", "iam.identity.created", "registry.tag", "dev.moorage.registry.pull"),
    [
      "dev.moorage.registry.push",
      "dev.moorage.api.iam.identity.created",
      "dev.moorage.api.platform.registry.tag",
      "dev.moorage.registry.pull",
    ],
  );
  const unknown = await as("subscriptions", "create", "acme", "--sink", SINK, "--type-prefixes", "nope");
  assert.notEqual(unknown.code, 0);
  assert.match(unknown.stderr, /no type that this command knows begins with nope: moorage events types lists them/);
});
