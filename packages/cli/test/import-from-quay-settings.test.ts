// Quotas, caches and mirrors of Quay's organizations. Quay is a fake, see fake-registries.ts.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { PlanItem } from "../src/move-in/plan.ts";
import { startFakeQuay } from "./fake-registries.ts";
import { BUILD, openStage } from "./tasks-stage.ts";

test("quotas of Quay come where they reject, caches disabled, and mirrors are said", async (t) => {
  const there = await openStage(t);
  const here = await openStage(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  writeFileSync(join(here.folder, "password"), (await there.ok("token")).trim());
  await there.push("acme/app:1", 1);
  await here.ok("groups", "create", "acme/old");
  const limit = (type: string, limit_percent: unknown) => ({ id: 1, type, limit_percent });
  const quota = (limit_bytes: unknown, ...limits: object[]) => [{ id: 1, limit_bytes, limits }];
  const cache = (upstream_registry: unknown, fields: object = {}) => ({
    upstream_registry,
    expiration_s: 1,
    ...fields,
  });
  const names = ["acme", "warns", "odd", "huge", "list", "hub"];
  const { url } = await startFakeQuay(
    t,
    there.url,
    {
      "acme/app": [{ name: "1", start_ts: Date.parse("2024-01-01T00:00:00Z") / 1000, manifest_digest: BUILD[1] }],
      ...Object.fromEntries(names.slice(1).map((name) => [`${name}/empty`, []])),
    },
    {
      "organization/acme/quota": quota(1e9, limit("Warning", 70), limit("Reject", 90)),
      "organization/warns/quota": quota(1000, limit("Warning", 70)),
      "organization/odd/quota": quota(1000, limit("Reject", "90")),
      "organization/huge/quota": quota(1e300, limit("Reject", 90)),
      "organization/list/quota": { quotas: [] },
      "organization/acme/proxycache": cache(""),
      "organization/hub/proxycache": cache("docker.io/library", { insecure: false }),
      "organization/odd/proxycache": cache("../etc"),
      "organization/list/proxycache": cache(7),
      "repository/acme/app/mirror": {
        is_enabled: true,
        external_reference: "registry.example.com/app",
        external_registry_username: "robot",
        sync_interval: 3600,
        root_rule: { rule_kind: "tag_glob_csv", rule_value: ["v*", "latest"] },
      },
    },
  );
  const command = ["import-from", "quay", url, "--into", "acme/old"];
  const namespaces = names.flatMap((name) => ["--namespace", name]);
  const kinds = ["quota", "registry-upstream", "setting"];
  const plan = async (): Promise<string[]> => {
    const read = ["--username", "$oauthtoken", "--password-file", "password"];
    await here.ok(...command, "--plan", "plan.json", ...read, ...namespaces);
    const { items } = JSON.parse(readFileSync(join(here.folder, "plan.json"), "utf8")) as { items: PlanItem[] };
    return items
      .filter(({ kind }) => kinds.includes(kind))
      .map(({ kind, source, action, why }) => `${kind} ${source} ${action}: ${why}`);
  };
  const disabled = "disabled: whether it needs a password is not said there, and none comes";
  const warns = "here it warns from 80 percent on";
  const planned = await plan();
  const { items } = JSON.parse(readFileSync(join(here.folder, "plan.json"), "utf8")) as { items: PlanItem[] };
  const cached = "is of an organization that caches another registry: it comes from there when it is pulled";
  assert.equal(items.find(({ source }) => source === "hub/empty")?.why, cached);
  assert.deepEqual(planned, [
    `quota acme: quota create: with --policies; ${warns}`,
    "quota warns: quota cannot: only warns there, and rejects nothing",
    "quota odd: quota cannot: cannot be read",
    "registry-upstream odd: cache cannot: has an address that cannot be one here",
    "quota huge: quota cannot: cannot be read",
    "quota list: quota cannot: the source has no list of its quotas",
    "registry-upstream list: cache cannot: has an address that cannot be one here",
    `registry-upstream hub: cache of docker.io create: with --policies; ${disabled}`,
    "setting acme/app: mirror cannot: copies registry.example.com/app, tags v*, latest each 3600 seconds; a repo has one source, which is Quay until --finish: then give it this one",
  ]);
  const apply = async (): Promise<[string, number, number][]> => {
    const pull = ["--pull-username", "robot", "--pull-password-file", "password"];
    const { counts, failed } = await here.json<{
      counts: { kind: string; done: number; same: number }[];
      failed: object[];
    }>(...command, "--apply", "plan.json", "--policies", ...pull);
    assert.deepEqual(failed, []);
    return counts
      .filter(({ kind }) => kinds.includes(kind) && kind !== "setting")
      .map(({ kind, done, same }) => [kind, done, same]);
  };
  assert.deepEqual(await apply(), [
    ["quota", 1, 0],
    ["registry-upstream", 1, 0],
  ]);
  assert.equal((await here.json<{ bytes: string }>("quotas", "get", "acme/old/acme")).bytes, "900000000");
  const hub = await here.json<Record<string, unknown>>("registry-upstreams", "get", "acme/old/hub");
  assert.deepEqual([hub["registry"], hub["prefix"], hub["disabled"]], ["docker.io", "library", true]);
  assert.deepEqual(await apply(), [
    ["quota", 0, 1],
    ["registry-upstream", 0, 1],
  ]);
  assert.deepEqual(
    (await plan()).filter((each) => !each.includes(" cannot: ")).map((each) => each.split(":")[1]?.trim()),
    ["quota same", "cache of docker.io same"],
  );
});
