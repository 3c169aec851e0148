// Whoever pushes to a registry, or owns its folder, may put anything there.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "./commands.ts";
import { type DistributionFolder, distributionFolder } from "./distribution-folder.ts";
import { openStage } from "./tasks-stage.ts";

interface Item {
  kind: string;
  source: string;
  action: string;
  why: string;
}

const IMAGE = "application/vnd.oci.image.manifest.v1+json";
const layered = (layer: { digest: string; size: number }, config: { digest: string; size: number }): object => ({
  schemaVersion: 2,
  mediaType: IMAGE,
  config: { mediaType: "application/vnd.oci.image.config.v1+json", ...config },
  layers: [{ mediaType: "application/vnd.oci.image.layer.v1.tar", ...layer }],
});

/** An image of one layer. */
function push(old: DistributionFolder, repo: string, tag: string, content: string): { digest: string; layer: string } {
  const layer = old.blob(repo, Buffer.from(content));
  const digest = old.manifest(repo, layered(layer, old.blob(repo, Buffer.from("{}"))));
  old.tag(repo, tag, digest);
  return { digest, layer: layer.digest };
}

test("what a folder holds is not trusted: each trick is said with words, and ends nothing else", async (t) => {
  const here = await openStage(t);
  const old = distributionFolder(temporaryFolder(t));
  const outside = join(temporaryFolder(t), "secret");
  writeFileSync(outside, "secret");
  const command = ["import-from", "distribution", old.root, "--into", "acme"];
  push(old, "good", "1", "good");
  const linked = push(old, "tricks", "linked-data", "linked");
  rmSync(old.dataOf(linked.layer));
  symlinkSync(outside, old.dataOf(linked.layer));
  const short = push(old, "tricks", "short", "as long as this");
  writeFileSync(old.dataOf(short.layer), "short");
  const gone = push(old, "tricks", "gone", "gone");
  rmSync(old.dataOf(gone.layer));
  const lying = push(old, "tricks", "lying-manifest", "manifest");
  writeFileSync(old.dataOf(lying.digest), JSON.stringify({ schemaVersion: 2, layers: [] }));
  const large = push(old, "tricks", "large-manifest", "large");
  truncateSync(old.dataOf(large.digest), 2 ** 40);
  // An index of many manifests, each as large as one may be.
  const padding = (at: number): string => `${at}`.padEnd(4_000_000, "x");
  const children = Array.from({ length: 17 }, (_, at) => {
    const digest = old.manifest("tricks", { schemaVersion: 2, layers: [], annotations: { padding: padding(at) } });
    return { mediaType: IMAGE, digest, size: 4_000_100 };
  });
  old.tag("tricks", "heavy", old.manifest("tricks", { schemaVersion: 2, manifests: children }));
  // The layer of another repository, which whoever pushes here may not read.
  const others = old.blob("private", Buffer.from("private content"));
  old.tag("tricks", "foreign", old.manifest("tricks", layered(others, old.blob("tricks", Buffer.from("{}")))));
  for (const [tag, content] of [
    ["endless-link", "x".repeat(10_000)],
    ["no-digest", "sha256:../../../../etc/passwd"],
  ] as const) {
    const tags = old.repository("tricks/_manifests/tags", tag, "current");
    mkdirSync(tags, { recursive: true });
    writeFileSync(join(tags, "link"), content);
  }
  const pipe = old.repository("tricks/_manifests/tags/pipe/current");
  mkdirSync(pipe, { recursive: true });
  execFileSync("mkfifo", [join(pipe, "link")]);
  symlinkSync(old.repository("tricks/_manifests/tags/short"), old.repository("tricks/_manifests/tags/symlink"));
  symlinkSync("/", old.repository("root"));
  mkdirSync(old.repository("Upper Case/_manifests/tags"), { recursive: true });
  mkdirSync(old.repository("empty/_layers/sha256"), { recursive: true });

  await here.ok(...command, "--plan", "plan.json");
  const { items } = JSON.parse(readFileSync(join(here.folder, "plan.json"), "utf8")) as { items: Item[] };
  const whys = Object.fromEntries(
    items.filter(({ action }) => action === "cannot").map(({ source, why }) => [source, why]),
  );
  const expected: Record<string, RegExp> = {
    "Upper Case": /"Upper Case" cannot be the name of an image/,
    empty: /has no manifests in the folder/,
    private: /has no manifests in the folder/,
    root: /is a symbolic link, which is not followed/,
    "tricks:endless-link": /has more than 256 bytes/,
    "tricks:foreign": /the repository does not have the blob sha256:/,
    "tricks:gone": /the folder does not have the blob/,
    "tricks:heavy": /manifests of more than 67108864 bytes/,
    "tricks:large-manifest": /has more than 4194304 bytes/,
    "tricks:linked-data": /leads elsewhere by a symbolic link/,
    "tricks:lying-manifest": /its digests do not hold/,
    "tricks:no-digest": /names no digest/,
    "tricks:pipe": /is no file/,
    "tricks:short": /has 5 bytes, and should have 15/,
    "tricks:symlink": /leads elsewhere by a symbolic link/,
  };
  for (const [source, words] of Object.entries(expected)) assert.match(whys[source] ?? "is not said", words, source);
  assert.deepEqual(
    Object.keys(whys).filter((source) => !(source in expected) && !source.includes(":@")),
    [],
  );
  const { failed } = await here.json<{ failed: object[] }>(...command, "--apply", "plan.json");
  assert.deepEqual(failed, []);
  await here.ok("images", "inspect", "acme/good:1");
});

test("what is changed after the plan does not come, and is named; the rest does", async (t) => {
  const here = await openStage(t);
  const old = distributionFolder(temporaryFolder(t));
  const command = ["import-from", "distribution", old.root, "--into", "acme"];
  const secret = join(temporaryFolder(t), "secret");
  writeFileSync(secret, "swapped");
  push(old, "app", "good", "good");
  const lying = push(old, "app", "lying", "content");
  const swapped = push(old, "app", "swapped", "Swapped");
  await here.ok(...command, "--plan", "plan.json");
  writeFileSync(old.dataOf(lying.layer), "CONTENT");
  renameSync(old.dataOf(swapped.layer), `${old.dataOf(swapped.layer)}.old`);
  symlinkSync(secret, old.dataOf(swapped.layer));
  const { code, stdout } = await here.run([...command, "--apply", "plan.json", "-o", "json"]);
  const { failed } = JSON.parse(stdout) as { failed: { name: string; why: string }[] };
  assert.equal(code, 9);
  assert.deepEqual(
    failed.map(({ name }) => name),
    ["acme/app:lying", "acme/app:swapped"],
  );
  assert.match(failed[0]?.why ?? "", new RegExp(`the blob ${lying.layer} has bytes of another digest`));
  assert.match(failed[1]?.why ?? "", /leads elsewhere by a symbolic link/);
  await here.ok("images", "inspect", "acme/app:good");
  // Nothing is left of what did not come.
  assert.match(await here.ok("fsck", "--deep"), /^clean: /);
});

test("a place that is not the folder of a registry is refused by name", async (t) => {
  const here = await openStage(t);
  const refused = async (...args: string[]): Promise<string> => (await here.fails("import-from", ...args))[1];
  const plan = ["--into", "acme", "--plan", "plan.json"];
  const empty = temporaryFolder(t);
  assert.match(await refused("distribution", empty, ...plan), /is not the folder of a registry/);
  assert.match(await refused("distribution", "gs://bucket/registry", ...plan), /only folders of this machine/);
  const old = distributionFolder(temporaryFolder(t));
  push(old, "app", "1", "good");
  assert.match(await refused("distribution", old.root, ...plan, "--username", "x"), /--username: a folder is read/);
  const apply = ["--into", "acme", "--apply", "plan.json"];
  assert.match(await refused("distribution", old.root, ...apply, "--finish"), /nothing follows it/);
  assert.match(
    await refused("oci", "127.0.0.1", ...apply, "--blobs-from", "gs://bucket"),
    /only folders of this machine/,
  );
  // Another installation than the server's holds none of its repos.
  await here.ok("import-from", "distribution", old.root, ...plan);
  const other = await openStage(t);
  const token = (await here.ok("token")).trim();
  const { code, stdout } = await here.run(
    ["import-from", "distribution", old.root, ...apply, "-o", "json", "--data-dir", join(other.folder, "data")],
    { MOORAGE_URL: here.url, MOORAGE_TOKEN: token },
  );
  assert.equal(code, 9);
  assert.match((JSON.parse(stdout) as { failed: { why: string }[] }).failed[0]?.why ?? "", /another installation/);
});
