import assert from "node:assert/strict";
import { test } from "node:test";
import { BUILD, openStage, timeless } from "./tasks-stage.ts";

type Moves = { moves: { time: string; digest: string; previousDigest: string; reason: string }[] };
type Tags = { tags: { name: string; digest: string }[] };

test("the history of a tag, what differs in it, and what it was at a time", { timeout: 300_000 }, async (t) => {
  const { host, url, ok, run, fails, json, push, api } = await openStage(t);
  await push("acme/team/app:1.0", 1);
  await push("acme/team/app:1.0", 2);
  await push("acme/team/other:1.0", 3);

  // No feed is there: that nothing was found says nothing.
  const none = await run(["tags", "list", "acme/team/app", "--findings", "none", "-o", "name"]);
  assert.deepEqual([none.stdout, none.stderr], ["", "moorage: 1 tag left out: it is not known whether it fits\n"]);
  assert.equal(await ok("tags", "list", "acme/team/app", "--findings", "unknown", "-o", "name"), "acme/team/app:1.0\n");

  const { moves } = await json<Moves>("tags", "history", "acme/team/app:1.0");
  assert.deepEqual(
    moves.map(({ digest, previousDigest, reason }) => [reason, previousDigest, digest]),
    [
      ["push", BUILD[1], BUILD[2]],
      ["push", "", BUILD[1]],
    ],
  );
  const [second, first] = moves;
  assert.equal(
    timeless(await ok("tags", "history", "acme/team/app:1.0", "-o", "csv")),
    `when,why,from,to,who\nTIME,push,${BUILD[1]},${BUILD[2]},owner\nTIME,push,,${BUILD[1]},owner\n`,
  );
  const since = await json<Moves>("tags", "history", "acme/team/app:1.0", "--since", second?.time ?? "");
  assert.deepEqual(
    since.moves.map(({ digest }) => digest),
    [BUILD[2]],
  );
  const until = await json<Moves>("tags", "history", `acme/team/app:1.0@${first?.time}`);
  assert.deepEqual(
    until.moves.map(({ digest }) => digest),
    [BUILD[1]],
  );
  const paged = await json<Moves>("tags", "history", "acme/team/app:1.0", "--page-size", "1");
  assert.deepEqual(paged.moves, moves);
  const asked = await run(["tags", "history", "acme/team/app:1.0", "--page-size", "1", "--debug"]);
  assert.match(asked.stderr, /\/moves\?\S*page_?[sS]ize=1\b/);
  assert.deepEqual(await fails("tags", "history", "acme/team/app"), [
    2,
    "moorage: acme/team/app: name a tag, as acme/team/app:latest",
  ]);
  assert.deepEqual(await fails("tags", "history", "acme/team/app:2.0"), [
    3,
    "moorage: there never was a tag acme/team/app:2.0; see those there are: moorage images list acme/team/app",
  ]);
  assert.deepEqual(await fails("tags", "history", "acme/team/ap:1.0"), [
    3,
    "moorage: there is no repo acme/team/ap that you may see; did you mean acme/team/app?",
  ]);

  // Pinned, now and then.
  const pinned = (digest: string): string => `${host}/acme/team/app@${digest}\n`;
  assert.equal(await ok("tags", "resolve", "acme/team/app:1.0"), pinned(BUILD[2]));
  assert.equal(await ok("tags", "resolve", `${host}/acme/team/app:1.0@${first?.time}`), pinned(BUILD[1]));
  assert.equal(
    await ok("tags", "resolve", `${url}/acme/team/app@${BUILD[1]}`, "acme/team/app:1.0"),
    pinned(BUILD[1]) + pinned(BUILD[2]),
  );
  assert.deepEqual(await fails("tags", "resolve", "acme/team/app:1.0@2020-01-01"), [
    3,
    "moorage: there was no tag acme/team/app:1.0 at 2020-01-01T23:59:59.999Z; see its history: moorage tags history acme/team/app:1.0",
  ]);
  assert.deepEqual(await fails("tags", "resolve", "acme/team/app:1.0@2999-01-01"), [
    2,
    "moorage: acme/team/app:1.0@2999-01-01: 2999-01-01 is in the future",
  ]);
  assert.deepEqual(await fails("tags", "resolve", "acme/team/app:1.0@yesterday"), [
    2,
    "moorage: acme/team/app:1.0@yesterday: must be an ISO 8601 date or time such as 2026-01-31 or 2026-01-31T08:30Z, not yesterday",
  ]);
  const [code, line] = await fails("tags", "resolve", "registry.example.com/acme/team/app:1.0");
  assert.deepEqual(
    [code, line.includes(`is an image of registry.example.com, and the server is ${host};`)],
    [2, true],
    line,
  );

  // What differs; packages are known once the server has read the images.
  const repo = (await api<{ repos: { uid: string }[] }>("GET", "/registry/v2/repos?name=app")).repos[0]?.uid;
  while (
    !(await api<{ packagesComplete: boolean }>("GET", `/registry/v2/repos/${repo}/diff?from=${BUILD[1]}&to=1.0`))
      .packagesComplete
  )
    await new Promise((resolve) => setTimeout(resolve, 200));
  const between = await ok("tags", "diff", `acme/team/app@${BUILD[1]}`, ":1.0");
  assert.equal(
    between.replace(/^(  [-+] layer sha256:)\w+ \d+B$/gm, "$1…"),
    `acme/team/app  sha256:06e46d29564d → 1.0
digest  sha256:06e46d29564d → sha256:336471f3ce56
size    1.5KiB → 1.5KiB (no change)

Packages: 0 added, 0 removed, 1 changed
~ pkg:npm/hello 1.1.0 → 1.2.0

Findings: 0 new, 0 gone, 0 changed
! not all known: linux/amd64, from: no feed covers 1 package of npm (moorage feeds add osv-npm would)
! not all known: linux/amd64, to: no feed covers 1 package of npm (moorage feeds add osv-npm would)
! not all known: linux/arm64, from: no feed covers 1 package of npm (moorage feeds add osv-npm would)
! not all known: linux/arm64, to: no feed covers 1 package of npm (moorage feeds add osv-npm would)

~ linux/amd64
  ~ label org.opencontainers.image.version: 1 → 2
  - layer sha256:…
  - layer sha256:…
  + layer sha256:…
  + layer sha256:…

~ linux/arm64
  ~ label org.opencontainers.image.version: 1 → 2
  - layer sha256:…
  - layer sha256:…
  + layer sha256:…
  + layer sha256:…

~ annotation org.opencontainers.image.version: 1 → 2
`,
  );
  // With itself: what the tag was before, or at a time, and what it is.
  assert.equal(await ok("tags", "diff", "acme/team/app:1.0"), between);
  assert.match(await ok("tags", "diff", `acme/team/app:1.0@${first?.time}`), /\n~ pkg:npm\/hello 1\.1\.0 → 1\.2\.0\n/);
  assert.match(await ok("tags", "diff", "acme/team/app:1.0", "1.0"), /: no differences\n/);
  assert.match(
    await ok("tags", "diff", "acme/team/app:1.0", "--markdown"),
    /^# acme\/team\/app: .*\n[^]*## Packages\n/,
  );
  const { packages } = await json<{ packages: { purl: string }[] }>("tags", "diff", "acme/team/app:1.0");
  assert.deepEqual(
    packages.map(({ purl }) => purl),
    ["pkg:npm/hello"],
  );
  assert.deepEqual(await fails("tags", "diff", "acme/team/app:1.0", "acme/team/other:1.0"), [
    2,
    "moorage: acme/team/other:1.0: is of another repo than acme/team/app; a diff is about two images of one repo",
  ]);
  assert.equal((await fails("tags", "diff", "acme/team/other:1.0"))[0], 3);
});

test("tags are promoted and rolled back, shown before, together or not", { timeout: 300_000 }, async (t) => {
  const { ok, run, fails, json, push, api } = await openStage(t);
  for (const build of [1, 2, 3] as const) await push(`acme/shop:build-${build}`, build);
  await push("acme/shop:stable", 1);
  const digests = async (): Promise<Record<string, string>> => {
    const { tags } = await json<Tags>("images", "list", "acme/shop");
    return Object.fromEntries(tags.map(({ name, digest }) => [name, digest]));
  };
  const before = await digests();

  const plan = `TAG     FROM                                                                     TO
stable  ${BUILD[1]}  ${BUILD[2]}
canary  ${" ".repeat(71)}  ${BUILD[2]}  new
`;
  const dry = await run(["tags", "promote", "acme/shop:build-2", "stable", ":canary", "--dry-run"]);
  assert.deepEqual([dry.code, timeless(dry.stdout), dry.stderr], [0, plan, "dry run: nothing was moved\n"]);
  // Nobody is there to ask.
  const asked = await run(["tags", "promote", "acme/shop:build-2", "stable", "canary"]);
  assert.deepEqual(
    [asked.code, asked.stderr],
    [2, "moorage: Moves 2 tags of acme/shop: nobody is there to ask; add --yes\n"],
  );
  assert.deepEqual(await digests(), before);

  const done = await run(["tags", "promote", "acme/shop:build-2", "stable", "acme/shop:canary", "--yes"]);
  assert.deepEqual([done.code, timeless(done.stdout), done.stderr], [0, plan, "promoted 2 tags of acme/shop\n"]);
  assert.deepEqual(await digests(), { ...before, stable: BUILD[2], canary: BUILD[2] });
  const again = await run(["tags", "promote", "acme/shop:build-2", "stable", "--yes"]);
  assert.deepEqual([again.code, again.stderr], [0, "nothing to do: they point there already\n"]);

  const { tags } = await json<Tags>("tags", "promote", `acme/shop@${BUILD[3]}`, "stable", "--yes");
  assert.deepEqual(
    tags.map(({ name, digest }) => [name, digest]),
    [["stable", BUILD[3]]],
  );
  await ok("tags", "rollback", "acme/shop:stable", "--yes");
  assert.equal((await digests())["stable"], BUILD[2]);
  await ok("tags", "rollback", "acme/shop:stable", "--to", BUILD[1], "--yes");
  assert.equal((await digests())["stable"], BUILD[1]);
  assert.match(await ok("tags", "history", "acme/shop:stable", "-o", "csv", "--limit", "1"), /,rollback,/);

  // What the repo's policy fixes does not move, nor do the others with it.
  const repo = (await api<{ repos: { uid: string }[] }>("GET", "/registry/v2/repos?name=shop")).repos[0]?.uid ?? "";
  await api("PATCH", `/registry/v2/repos/${repo}?updateMask=tagPolicy`, { tagPolicy: { immutableTags: ["stable"] } });
  const [code, line] = await fails("tags", "promote", "acme/shop:build-3", "canary", "stable", "--yes");
  assert.deepEqual([code, line.startsWith("moorage: FAILED_PRECONDITION: ")], [6, true], line);
  assert.equal((await digests())["canary"], BUILD[2]);
  assert.deepEqual(await fails("tags", "promote", "acme/shop:build-9", "canary", "--yes"), [
    3,
    "moorage: there is no tag acme/shop:build-9 that you may see; did you mean acme/shop:build-1 or acme/shop:build-2 or acme/shop:build-3?",
  ]);
  assert.equal((await fails("tags", "rollback", "acme/shop:canary", "--to", "2020-01-01", "--yes"))[0], 6);
});
