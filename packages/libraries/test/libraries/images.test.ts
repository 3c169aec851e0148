// Which image tags contain a library, in which version, since when.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Ecosystem } from "@moorage/api";
import { holderOf } from "../../../server/test/support/advisories.ts";
import { addArtifact } from "../../../server/test/support/artifacts.ts";
import { tarOf, type TarEntry } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { cycloneDx } from "../../../server/test/support/catalog/documents.ts";
import {
  deleteReference,
  pushArtifact,
  pushIndex,
  pushLayers,
  type PushTarget,
} from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { type Answer, blamed, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

interface Image {
  repo: string;
  image: string;
  tag: string;
  digest: string;
  tagDigest: string;
  platform: string;
  version: string;
  purl: string;
  sinceTime: string;
}

let platform: Platform;
let [team, other] = ["", ""];
let [pad, flask] = ["", ""];
const digests: Record<string, string> = {};

const padded = (version: string, more = ""): Buffer =>
  tarOf([npmFile("app", "left-pad", version), npmFile("app", "else", `1.0.0${more}`)]);
const pythonFile = (name: string, version: string): TarEntry => ({
  path: `usr/lib/python3/dist-packages/${name}-${version}.dist-info/METADATA`,
  content: `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`,
});

before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  team = (await platform.group(platform.organization, { name: "team" })).uid;
  other = (await platform.group(platform.organization, { name: "other" })).uid;
  for (const [group, name] of [
    [team, "app"],
    [team, "multi"],
    [other, "app"],
  ] as const)
    await platform.repo(group, { name });
  pad = (await addArtifact(platform, team, { name: "left-pad", versions: 3 })).uid;
  flask = (await addArtifact(platform, team, { name: "flask", ecosystem: Ecosystem.PYTHON })).uid;
  const push = async (path: string, tag: string, layer: Buffer, configuration?: object): Promise<string> =>
    await pushLayers(await target(path), tag, [layer], undefined, configuration);
  digests["old"] = await push("team/app", "v1", padded("1.0.0"));
  await push("team/app", "latest", padded("1.0.0"));
  await push("team/app", "latest", padded("1.0.1"));
  digests["new"] = await push("team/app", "latest", padded("1.0.1", "-2"));
  await push("other/app", "latest", padded("1.0.0"));
  await push("other/app", "python", tarOf([pythonFile("Flask", "1.0")]));
  const [amd, arm] = [
    await push("team/multi", "amd", padded("1.0.1"), { architecture: "amd64", os: "linux" }),
    await push("team/multi", "arm", padded("3.0.0"), { architecture: "arm", variant: "v7", os: "linux" }),
  ];
  digests["index"] = await pushIndex(await target("team/multi"), "1.0", [
    [amd, { os: "linux", architecture: "amd64" }],
    [arm, { os: "linux", architecture: "arm", variant: "v7" }],
  ]);
  for (const tag of ["amd", "arm"]) await deleteReference(await target("team/multi"), tag);
  await until(pad, (found) => found.length === 5);
  await until(flask, (found) => found.length === 1);
});
after(() => platform.close());

async function target(path: string): Promise<PushTarget> {
  const { url, owner, bootstrap } = platform;
  const token = await platform.token(owner, { audience: new URL(url).host });
  return { url, token, name: `${bootstrap.organization.name}/${path}` };
}

async function ask(artifact: string, query = "", token?: string): Promise<Answer> {
  return await platform.call("GET", `/libraries/v2/artifacts/${encodeURIComponent(artifact)}/images?${query}`, {
    token: token ?? (await platform.token()),
  });
}

async function list(artifact: string, query = "", token?: string): Promise<Image[]> {
  const { status, body, text } = await ask(artifact, query, token);
  assert.equal(status, 200, text);
  return (body["artifactImages"] as Image[] | undefined) ?? [];
}

async function until(artifact: string, wanted: (found: Image[]) => boolean): Promise<void> {
  await eventually(async () => wanted(await list(artifact)), { instead: () => list(artifact) });
}

const shorts = (found: readonly Image[]): string[] =>
  found
    .map(({ image, tag, version, platform: of }) => `${image.replace(/^[^/]*\//, "")}:${tag} ${version} ${of}`)
    .sort();

async function movesOf(path: string, tag: string): Promise<string[]> {
  const { url, token, name } = await target(path);
  const answer = await fetch(`${url}/v2/${name}/_service/history/${tag}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const { history } = (await answer.json()) as { history: { updateTimestamp: string }[] };
  return history.map(({ updateTimestamp }) => updateTimestamp);
}

test("the tags are answered whose images hold the library, through an index as well, with version and platform", async () => {
  assert.deepEqual(shorts(await list(pad)), [
    "other/app:latest 1.0.0 amd64",
    "team/app:latest 1.0.1 amd64",
    "team/app:v1 1.0.0 amd64",
    "team/multi:1.0 1.0.1 linux/amd64",
    "team/multi:1.0 3.0.0 linux/arm/v7",
  ]);
  const [one] = await list(pad, `version=3.0.0`);
  assert.equal(one?.tagDigest, digests["index"]);
  assert.notEqual(one?.digest, digests["index"]);
  assert.equal(one?.purl, "pkg:npm/left-pad@3.0.0");
  const latest = (await list(pad, "version=1.0.1")).find(({ tag }) => tag === "latest");
  assert.deepEqual([latest?.digest, latest?.tagDigest], [digests["new"], digests["new"]]);
});

test("since when: the first of the moves of the tag, without a break, to an image with the version", async () => {
  const since = async (version: string, tag: string): Promise<string> =>
    (await list(pad, `version=${version}`)).find((each) => each.tag === tag)?.sinceTime ?? "";
  const [first, second, third] = (await movesOf("team/app", "latest")).sort();
  assert.ok(first !== undefined && second !== undefined && third !== undefined);
  assert.equal(Date.parse(await since("1.0.1", "latest")), Date.parse(second));
  assert.equal(Date.parse(await since("1.0.0", "v1")), Date.parse((await movesOf("team/app", "v1"))[0] ?? ""));
  const back = await target("team/app");
  await pushLayers(back, "latest", [padded("1.0.0")]);
  await until(pad, (found) => found.filter(({ tag, version }) => tag === "latest" && version === "1.0.0").length === 2);
  // It did before, and not in between.
  const moves = (await movesOf("team/app", "latest")).sort();
  const now = (await list(pad, "version=1.0.0")).find(
    ({ image, tag }) => image === "acme/team/app" && tag === "latest",
  );
  assert.equal(Date.parse(now?.sinceTime ?? ""), Date.parse(moves.at(-1) ?? ""));
  await pushLayers(back, "latest", [padded("1.0.1", "-2")]);
  await until(pad, (found) => found.filter(({ tag, version }) => tag === "latest" && version === "1.0.0").length === 1);
});

test("one version, and what the ecosystem takes for the same", async () => {
  assert.deepEqual(shorts(await list(pad, "version=1.0.0")), [
    "other/app:latest 1.0.0 amd64",
    "team/app:v1 1.0.0 amd64",
  ]);
  assert.deepEqual(await list(pad, "version=1.0.2"), []);
  assert.deepEqual(shorts(await list(flask, "version=1.0.0")), ["other/app:python 1.0 amd64"]);
});

test("pages together are the list, each with the total; some are passed over", async () => {
  const whole = await list(pad);
  for (const size of [1, 2]) {
    const found: Image[] = [];
    let token = "";
    do {
      const { body } = await ask(pad, `page_size=${size}&page_token=${token}`);
      const page = body["artifactImages"] as Image[];
      assert.ok(page.length <= size);
      assert.equal(body.totalCount, "5");
      found.push(...page);
      token = body.nextPageToken;
    } while (token !== "");
    assert.deepEqual(found, whole);
  }
  const { body } = await ask(pad, "skip=3&page_size=1");
  assert.deepEqual([body["artifactImages"], body["skipped"]], [whole.slice(3, 4), 3]);
  const rest = await ask(pad, `page_token=${body.nextPageToken}`);
  assert.deepEqual(rest.body["artifactImages"], whole.slice(4));
});

test("images of repos that the caller may not list are not there, nor is a library that it may not list", async () => {
  const viewer = await platform.token(await platform.identity(team, "viewer"));
  assert.deepEqual(
    shorts(await list(pad, "", viewer)).filter((each) => each.startsWith("other")),
    [],
  );
  assert.equal((await ask(pad, "", viewer)).body.totalCount, "4");
  assert.equal((await list(pad, `uidp.descendants_of=${other}`)).length, 1);
  const librarian = await holderOf(platform, team, ["CAP_LIBRARIES_ARTIFACTS_LIST"]);
  const seen = await ask(pad, "", librarian.token);
  assert.deepEqual([seen.status, seen.body["artifactImages"], seen.body.totalCount], [200, [], "0"]);
  const stranger = await platform.token(await platform.identity(other, "viewer"));
  assert.equal((await ask(pad, "", stranger)).status, 404);
  assert.equal((await ask(`${team}/${"0".repeat(16)}`)).status, 404);
});

test("what is wrong with a request is named", async () => {
  for (const [query, field] of [
    ["page_size=-1", "page_size"],
    ["skip=-1", "skip"],
    ["page_token=x", "page_token"],
    [`version=${"1".repeat(513)}`, "version"],
  ] as const) {
    const answer = await ask(pad, query);
    assert.deepEqual([answer.status, blamed(answer)], [400, [field]], query);
  }
  const { body } = await ask(pad, "page_size=1");
  const wrong = await ask(pad, `page_token=${body.nextPageToken}&version=1.0.0`);
  assert.deepEqual([wrong.status, blamed(wrong)], [400, ["page_token"]]);
});

test("an attached SBOM adds what an image holds, in the repo where it is attached", async () => {
  const place = await target("team/app");
  const subject = digests["old"] ?? "";
  const document = cycloneDx(["left-pad"]).replaceAll("1.0.0", "9.9.9");
  await pushArtifact(place, {
    subject,
    artifactType: "application/vnd.cyclonedx+json",
    layers: [{ mediaType: "application/vnd.cyclonedx+json", content: document }],
  });
  await until(pad, (found) => found.some(({ version }) => version === "9.9.9"));
  // What the layers hold stays: a document takes nothing away.
  assert.deepEqual(shorts(await list(pad, "version=1.0.0")), [
    "other/app:latest 1.0.0 amd64",
    "team/app:v1 1.0.0 amd64",
  ]);
  assert.deepEqual(shorts(await list(pad, "version=9.9.9")), ["team/app:v1 9.9.9 amd64"]);
});
