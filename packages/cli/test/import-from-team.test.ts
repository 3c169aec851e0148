// A team's move from end to end, as docs/moving.md has it: from a docker-registry with many repositories, with clients
// moved first and content after, and nothing down at any time.
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { sized } from "../../server/test/support/extent.ts";
import { eventually } from "../../server/test/support/eventually.ts";
import { buildSampleImage } from "../src/oci/image.ts";
import { openRegistry } from "../src/oci/registry.ts";
import { started } from "./command-kills.ts";
import { distributionFolder } from "./distribution-folder.ts";
import { missingDockerRegistry, startDockerRegistry } from "./docker-registry.ts";
import { BUILD, openStage } from "./tasks-stage.ts";

const REPOS = sized(12, 200);
const BUILDS = [1, 2, 3] as const;

test("a team moves in: clients first, content after, nothing down", { skip: missingDockerRegistry }, async (t) => {
  const repos = Array.from({ length: REPOS }, (_, at) => ({
    name: at % 4 === 0 ? `app${at}` : `team${at % 7}/app${at}`,
    build: BUILDS[at % BUILDS.length] ?? 1,
  }));
  const old = await startDockerRegistry(t, {
    fill: async (data) => {
      const folder = distributionFolder(data);
      for (const { name, build } of repos) await folder.push(name, "1.0", build);
    },
  });
  const here = await openStage(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  const token = (await here.ok("token")).trim();
  const client = openRegistry({ url: here.url, user: "robot", password: token });
  /** Pulls each image whole, as a client does that was moved: index, manifests, blobs. */
  const pullAll = async (): Promise<void> => {
    for (const { name, build } of repos) {
      const index = await client.pullManifest(`acme/${name}`, "1.0");
      assert.equal(index.digest, BUILD[build], name);
    }
  };
  const command = ["import-from", "oci", old.url, "--into", "acme"];
  await here.ok(...command, "--plan", "plan.json");

  // As soon as the repos are here the command is stopped, and the clients come.
  const apply = [...command, "--apply", "plan.json"];
  const child = started(here, apply, { url: here.url, token });
  const ended = once(child, "exit");
  await eventually(async () => {
    const { totalCount } = await here.api<{ totalCount?: string }>("GET", "/registry/v2/repos?page_size=1");
    return child.exitCode !== null || Number(totalCount) >= REPOS;
  });
  child.kill("SIGKILL");
  await ended;
  await pullAll();
  const [first] = repos;
  assert.ok(first);
  const { images } = await buildSampleImage(first.build);
  for (const { manifest, blobs } of images) {
    await client.pullManifest(`acme/${first.name}`, manifest.digest);
    for (const { digest } of blobs) await client.pullBlob(`acme/${first.name}`, digest);
  }

  // What pushes is moved next; who has not been moved pushes there.
  await here.push("acme/app0:1.0", 3);
  await openRegistry({ url: old.url }).pushImage("app0", "1.1", await buildSampleImage(2));
  const { failed, kept, finished } = await here.json<{
    failed: object[];
    kept: { name: string }[];
    finished: number;
  }>(...apply, "--finish");
  assert.deepEqual([failed, kept.map(({ name }) => name), finished], [[], ["acme/app0:1.0"], REPOS]);

  old.stop();
  repos[0] = { ...first, build: 3 };
  await pullAll();
  assert.equal((await client.pullManifest("acme/app0", "1.1")).digest, BUILD[2]);
  assert.match(await here.ok("fsck", "--deep"), /^clean: /);
});
