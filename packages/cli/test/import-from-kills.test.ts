// The command that moves a registry in is killed at many points; run again, it ends as one that was never killed.
import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { sized } from "../../server/test/support/extent.ts";
import { startFront } from "../../server/test/support/upstream.ts";
import { killedAfter, started } from "./command-kills.ts";
import { startFakeQuay } from "./fake-registries.ts";
import { BUILD, openStage } from "./tasks-stage.ts";

const POINTS = sized(5, 20);

test("killed at any point, the same command goes on, and ends where it would have", async (t) => {
  const there = await openStage(t);
  const here = await openStage(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  const front = await startFront(t, here.url);
  const password = (await there.ok("token")).trim();
  writeFileSync(join(here.folder, "password"), password);
  const token = (await here.ok("token")).trim();
  await there.push("acme/app:1.0", 1);
  await there.push("acme/app:1.0", 2);
  await there.push("acme/team/web:3", 3);
  const life = (name: string, day: string, manifest_digest: string) => ({
    name,
    start_ts: Date.parse(`2024-01-${day}T00:00:00Z`) / 1000,
    manifest_digest,
  });
  const { url } = await startFakeQuay(t, there.url, {
    "acme/app": [
      { ...life("1.0", "01", BUILD[1]), end_ts: Date.parse("2024-01-02T00:00:00Z") / 1000 },
      life("1.0", "02", BUILD[2]),
    ],
    "acme/team/web": [life("3", "03", BUILD[3])],
  });
  const apply = (group: string): string[] => [
    "import-from",
    "quay",
    url,
    "--into",
    `acme/${group}`,
    "--apply",
    `${group}.json`,
    "--history",
    "--finish",
    "--pull-username",
    "robot",
    "--pull-password-file",
    "password",
    "-o",
    "json",
  ];
  const planned = async (group: string): Promise<void> => {
    await here.ok("groups", "create", `acme/${group}`);
    const read = ["--username", "$oauthtoken", "--password-file", "password", "--namespace", "acme"];
    await here.ok("import-from", "quay", url, "--into", `acme/${group}`, "--plan", `${group}.json`, ...read);
  };
  /** What is there in the end. */
  const stateOf = async (group: string): Promise<unknown> => {
    const [moves, names] = [
      await here.json<{ moves: { time: string; digest: string; reason: string }[] }>(
        "tags",
        "history",
        `acme/${group}/acme/app:1.0`,
      ),
      await here.json<{ repos: { name: string; syncConfig?: object }[] }>("repos", "list", `acme/${group}`),
    ];
    for (const digest of [BUILD[1], BUILD[2]]) await here.ok("images", "inspect", `acme/${group}/acme/app@${digest}`);
    await here.ok("images", "inspect", `acme/${group}/acme/team/web:3`);
    return {
      moves: moves.moves.map(({ time, digest, reason }) => [time, digest, reason]),
      repos: names.repos.map(({ name, syncConfig }) => [name, syncConfig]),
    };
  };
  await planned("whole");
  await here.ok(...apply("whole"));
  const expected = await stateOf("whole");
  for (let point = 1; point <= POINTS; point += 1) {
    const group = `killed${point}`;
    await planned(group);
    // From the first request on to where the last are, some requests further each time.
    const killed = await killedAfter(
      front,
      Math.ceil((point * 40) / POINTS),
      started(here, apply(group), { url: front.url, token }),
    );
    await here.ok(...apply(group));
    assert.deepEqual(await stateOf(group), expected, `killed at point ${point}: ${killed}`);
  }

  // What a command sent before it was killed may be done after the next one has looked.
  await planned("late");
  const sent = new Set<string>();
  front.intercept = (req, res) => {
    const { method, url: path = "", headers } = req;
    if (method !== "POST" || !/^\/(?:iam\/v2\/groups|registry\/v2\/repos)\/[^:]*$/.test(path) || sent.has(path))
      return false;
    sent.add(path);
    const send = async (body: string): Promise<Response> =>
      await fetch(`${here.url}${path}`, {
        method,
        body,
        headers: { authorization: String(headers.authorization), "content-type": "application/json" },
      });
    void text(req).then(async (body) => {
      await send(body);
      const answer = await send(body);
      res.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
    });
    return true;
  };
  const ended = started(here, apply("late"), { url: front.url, token });
  assert.deepEqual(await once(ended, "exit"), [0, null]);
  assert.equal(sent.size, 4);
  assert.deepEqual(await stateOf("late"), expected);
});
