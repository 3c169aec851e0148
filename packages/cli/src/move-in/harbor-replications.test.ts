import assert from "node:assert/strict";
import { test } from "node:test";
import { replicationPolicies } from "./harbor-replications.ts";

const RULE = {
  id: 1,
  name: "backup",
  src_registry: { id: 0 },
  dest_registry: { id: 2, type: "harbor", url: "https://backup.example.com" },
};

/** What a rule becomes in the projects `acme` and `beta`. */
function outcomesOf(fields: object): string[] {
  return [...replicationPolicies({ ...RULE, ...fields }, ["acme", "beta"])].map(({ below, fault, settings = {} }) => {
    const { destination, flatten, repoPattern, interval, onPush } = settings;
    const words = [`to ${String(destination)}`, flatten ? "flat" : "", `repos ${String(repoPattern)}`];
    return `${below}: ${fault ?? [...words, `${String(interval)} ${String(onPush)}`].join(" ")}`;
  });
}

const acmeOf = (fields: object): string | undefined => outcomesOf(fields)[0];

test("a name that a rule gives images becomes a destination, or has no equivalent", () => {
  const at = (dest_namespace: unknown, dest_namespace_replace_count?: unknown) =>
    acmeOf({ dest_namespace, dest_namespace_replace_count })?.split(" repos")[0]?.trim();
  assert.equal(at(""), "acme: to backup.example.com/acme");
  assert.equal(at("n"), "acme: to backup.example.com/n flat");
  assert.equal(at("n", -1), "acme: to backup.example.com/n flat");
  assert.equal(at("n", 0), "acme: to backup.example.com/n/acme");
  assert.equal(at("n", 1), "acme: to backup.example.com/n");
  assert.match(at("n", 2) ?? "", /leaves out 2 parts/);
  assert.match(at("n", 1e300) ?? "", /says of no parts/);
});

test("a filter of names is split into projects and repositories, or has no equivalent", () => {
  const of = (...values: unknown[]): string[] =>
    outcomesOf({ filters: values.map((value) => ({ type: "name", value })) }).map((each) =>
      each.replace(/to \S+ +(?:flat )?/, "").replace(" undefined false", ""),
    );
  assert.deepEqual(of(), ["acme: repos ", "beta: repos "]);
  assert.deepEqual(of("**"), ["acme: repos ", "beta: repos "]);
  assert.deepEqual(of("acme/**"), ["acme: repos "]);
  assert.deepEqual(of("*/a{pp,pi}?"), ["acme: repos (?:app[^/]|api[^/])", "beta: repos (?:app[^/]|api[^/])"]);
  assert.deepEqual(of("b*/team/**"), ["beta: repos team/.*"]);
  assert.deepEqual(of("gone/**"), [": is for no project that comes"]);
  for (const value of ["acme", "a**/x", "**/x", "acme/**/x", "acme/x**", "{acme/x,beta}", "[ab]/x", 7, "acme/["])
    assert.match(of(value).join(), /no equivalent here/, String(value));
  assert.match(of("acme/**", "acme/x").join(), /no equivalent here/);
});

test("schedules of each hour, day and week come, and others are said", () => {
  const of = (cron: string): string | undefined =>
    acmeOf({ trigger: { type: "scheduled", trigger_settings: { cron } } })
      ?.split("repos ")[1]
      ?.trim();
  assert.equal(of("0 30 * * * *"), "3600s false");
  assert.equal(of("0 0 3 * * *"), "86400s false");
  assert.equal(of("0 0 3 * * 1"), "604800s false");
  assert.equal(of("0 */5 * * * *"), "undefined false");
  assert.equal(
    acmeOf({ trigger: { type: "event_based" } })
      ?.split("repos ")[1]
      ?.trim(),
    "undefined true",
  );
});

test("a limit of the rate comes, and one that is none here is said", () => {
  const of = (speed: unknown): string => {
    const [{ settings, notes = [] } = {}] = replicationPolicies({ ...RULE, speed }, ["acme"]);
    return `${String(settings?.["bytesPerSecond"])} ${notes.some((note) => note.startsWith("has no limit of its rate"))}`;
  };
  for (const speed of [undefined, 0, -1]) assert.equal(of(speed), "undefined false");
  assert.equal(of(100), "102400 false");
  for (const speed of ["100", 1e300, 1.5, 2 ** 40]) assert.equal(of(speed), "undefined true", String(speed));
});

test("what is no rule, or leads to no registry of images, cannot come", () => {
  const to = (fields: object): string | undefined => acmeOf({ dest_registry: { ...RULE.dest_registry, ...fields } });
  assert.match(to({ type: "aws-ecr" }) ?? "", /of the kind aws-ecr/);
  assert.match(to({ url: "file:///etc" }) ?? "", /address that is none/);
  assert.match(to({ url: "https://me:pw@b.example.com" }) ?? "", /more than a host and a path/);
  assert.match(to({ url: "https://b.example.com/A%20B" }) ?? "", /cannot be one here/);
  assert.match(acmeOf({ dest_registry: null }) ?? "", /names no other registry/);
  assert.match(acmeOf({ name: "\u0000" }) ?? "", /its name cannot be one/);
  assert.match(acmeOf({ filters: "acme" }) ?? "", /no list of filters/);
  assert.match(acmeOf({ filters: [null] }) ?? "", /no equivalent here/);
});
