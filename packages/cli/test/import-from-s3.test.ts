// The bucket of a docker-registry moves in: its content is copied, within the S3 server where the store is there too.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { test, type TestContext } from "node:test";
import { openBucket } from "../../kernel/src/blobs/s3-bucket.ts";
import { parseS3Url } from "../../kernel/src/blobs/s3-url.ts";
import { NO_S3, s3Url } from "../../server/test/support/s3.ts";
import { openRegistry } from "../src/oci/registry.ts";
import { buildSampleImage } from "../src/oci/image.ts";
import { temporaryFolder } from "./commands.ts";
import { distributionFolder } from "./distribution-folder.ts";
import { missingDockerRegistry, startDockerRegistry } from "./docker-registry.ts";
import { BUILD, openStage, type Stage } from "./tasks-stage.ts";

interface Result {
  failed: { name: string; why: string }[];
  brought: { linked: number; copied: number; here: number; absent: number };
}

/** Copies a folder into the bucket, below the URL's prefix. */
async function upload(root: string, url: string): Promise<void> {
  const location = parseS3Url(url);
  const bucket = openBucket(location);
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  for (const each of files) {
    const path = join(each.parentPath, each.name);
    await bucket.put(`${location.prefix}${relative(root, path)}`, readFileSync(path));
  }
}

/** `settings`: those of the installation's blobs, which the command writes into. */
async function apply(
  here: Stage,
  command: readonly string[],
  settings: Record<string, string> = {},
): Promise<[code: number | null, result: Result]> {
  const args = [...command, "--apply", "plan.json", "--history", "-o", "json"];
  const { code, stdout, stderr } = await here.run(args, settings);
  assert.ok(stdout.startsWith("{"), stderr);
  return [code, JSON.parse(stdout) as Result];
}

const STORES: [name: string, settingsOf: () => Record<string, string>][] = [
  ["files", () => ({})],
  ["S3", () => ({ MOORAGE_BLOBS_URL: s3Url() })],
];

for (const [name, settingsOf] of STORES)
  test(`a bucket moves into a store of ${name}; what is wrong with it is said`, { skip: NO_S3 }, async (t) => {
    const settings = settingsOf();
    const here = await openStage(t, settings);
    const old = distributionFolder(temporaryFolder(t));
    await old.push("team/app", "1.0", 1);
    await old.push("team/app", "1.0", 2);
    await old.push("web", "latest", 3);
    const layer = old.blob("web", Buffer.alloc(1_000_000, "x"));
    const config = old.blob("web", Buffer.from("{}"));
    const type = "application/vnd.oci.image";
    const large = old.manifest("web", {
      schemaVersion: 2,
      mediaType: `${type}.manifest.v1+json`,
      config: { mediaType: `${type}.config.v1+json`, ...config },
      layers: [{ mediaType: `${type}.layer.v1.tar`, ...layer }],
    });
    old.tag("web", "lying", large);
    writeFileSync(old.dataOf(layer.digest), Buffer.alloc(1_000_000, "y"));
    const url = s3Url();
    await upload(old.root, url);
    const command = ["import-from", "distribution", url, "--into", "acme"];
    await here.ok(...command, "--plan", "plan.json");
    const { items } = JSON.parse(readFileSync(join(here.folder, "plan.json"), "utf8")) as {
      items: { kind: string; source: string; action: string }[];
    };
    assert.deepEqual(
      items.map(({ kind, source, action }) => `${action} ${kind} ${source}`),
      [
        "create group team",
        "create repo team/app",
        "create tag team/app:1.0",
        "create repo web",
        "create tag web:latest",
        "create tag web:lying",
      ],
    );
    const [code, { failed, brought }] = await apply(here, command, settings);
    assert.equal(code, 9);
    assert.deepEqual(failed, [
      { kind: "tag", name: "acme/web:lying", why: `the blob ${layer.digest} has bytes of another digest` },
    ]);
    assert.ok(brought.copied > 0);
    assert.equal(brought.linked, 0);
    const { moves } = await here.json<{ moves: { digest: string; reason: string }[] }>(
      "tags",
      "history",
      "acme/team/app:1.0",
    );
    assert.deepEqual(
      moves.map(({ digest, reason }) => [digest, reason]),
      [
        [BUILD[2], "import"],
        [BUILD[1], "import"],
      ],
    );
    for (const image of [`acme/team/app@${BUILD[1]}`, "acme/team/app:1.0", "acme/web:latest"])
      await here.ok("images", "inspect", image);
    const checked = await here.run(["fsck", "--deep"], settings);
    assert.match(checked.stdout, /^clean: /);
    // Again: what is here is not copied anew.
    const [, again] = await apply(here, command, settings);
    assert.deepEqual([again.brought.copied, again.failed.length], [0, 1]);
  });

test("the bucket of a docker-registry that runs moves in", { skip: NO_S3 || missingDockerRegistry }, async (t) => {
  const url = s3Url();
  const old = await startDockerRegistry(t, { storage: storageOf(url) });
  for (const [tag, build] of [
    ["1.0", 1],
    ["2.0", 2],
  ] as const)
    await openRegistry({ url: old.url }).pushImage("team/app", tag, await buildSampleImage(build));
  const here = await openStage(t);
  const command = ["import-from", "distribution", url, "--into", "acme"];
  await here.ok(...command, "--plan", "plan.json");
  const [code, { failed }] = await apply(here, command);
  assert.deepEqual([code, failed], [0, []]);
  for (const [tag, build] of [
    ["1.0", 1],
    ["2.0", 2],
  ] as const)
    assert.equal((await here.json<{ digest: string }>("tags", "get", `acme/team/app:${tag}`)).digest, BUILD[build]);
});

/** The registry's driver for that place, as its configuration says it. */
function storageOf(url: string): string {
  const { bucket, prefix, endpoint = "", region = "" } = parseS3Url(url);
  const of: Record<string, string | boolean> = {
    accesskey: process.env["AWS_ACCESS_KEY_ID"] ?? "",
    secretkey: process.env["AWS_SECRET_ACCESS_KEY"] ?? "",
    region,
    regionendpoint: endpoint,
    bucket,
    rootdirectory: `/${prefix.replace(/\/$/, "")}`,
    secure: false,
    v4auth: true,
  };
  return `s3: ${JSON.stringify(of)}`;
}

test("content of a registry that is followed comes from its bucket", { skip: NO_S3 }, async (t: TestContext) => {
  const there = await openStage(t);
  const here = await openStage(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  const old = distributionFolder(temporaryFolder(t));
  await there.push("acme/app:1.0", 1);
  await there.push("acme/app:2.0", 2);
  // The bucket has one of the two.
  await old.push("acme/app", "1.0", 1);
  const url = s3Url();
  await upload(old.root, url);
  writeFileSync(join(here.folder, "password"), (await there.ok("token")).trim());
  await here.ok("groups", "create", "acme/old");
  const command = ["import-from", "oci", there.url, "--into", "acme/old"];
  await here.ok(...command, "--plan", "plan.json", "--username", "robot", "--password-file", "password");
  const pull = ["--pull-username", "robot", "--pull-password-file", "password"];
  const flags = ["--apply", "plan.json", "--blobs-from", url];
  const { brought, failed } = await here.json<Result>(...command, ...flags, ...pull);
  assert.deepEqual([failed, brought.absent], [[], 1]);
  assert.ok(brought.copied > 0);
});

test("a bucket that cannot be read, and a URL of another kind, are refused by name", { skip: NO_S3 }, async (t) => {
  const here = await openStage(t);
  const plan = ["--into", "acme", "--plan", "plan.json"];
  const fails = async (place: string): Promise<string> =>
    (await here.fails("import-from", "distribution", place, ...plan))[1];
  assert.match(await fails(s3Url()), /is not the folder of a registry/);
  const none = new URL(s3Url());
  none.host = "no-bucket-of-this-name";
  assert.match(await fails(none.href), /cannot be read \((NoSuchBucket|AccessDenied)/);
  const anybody = { AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "", AWS_EC2_METADATA_DISABLED: "true" };
  const { stderr } = await here.run(["import-from", "distribution", s3Url(), ...plan], anybody);
  assert.match(stderr, /no credentials were found where AWS tools read them/);
  assert.match(await fails("s3://bucket/x?zone=1"), /zone: no such parameter/);
  assert.match(await fails("gs://bucket/x"), /only folders of this machine and buckets of S3 are read/);
});
