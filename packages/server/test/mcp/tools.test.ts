// What each tool answers, by a real registry with images, findings and products past their end of life.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { loadConfig, withFeeds } from "../../src/index.ts";
import { tarOf } from "../support/catalog/archives.ts";
import { pushLayers } from "../support/catalog/push.ts";
import { eventually } from "../support/eventually.ts";
import { BAD, CLEAN, type GatedRepo, MILD, openGatedRepo, putGateRecords } from "../support/gated-repo.ts";
import { connectMcp, type McpClient } from "../support/mcp.ts";
import { type Platform, startPlatform } from "../support/platform.ts";
import { newPolicy } from "../support/signed-repo.ts";
import { cosignLayer, cosignPayload, newKey, newSigner, pushCosign, verifiedSignatures } from "../support/signing.ts";
import { zipOf } from "../support/zip.ts";

let platform: Platform;
let repo: GatedRepo;
let client: McpClient;
let digests: [old: string, recent: string];
/** Between the two pushes of 1.0. */
let between = "";
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  await putGateRecords(platform);
  repo = await openGatedRepo(platform);
  const old = await repo.push("1.0", BAD, MILD);
  between = new Date(platform.clock.nowMs() + 1).toISOString();
  platform.clock.offsetMs += 5_000;
  const recent = await repo.push("1.0", CLEAN, MILD);
  digests = [old, recent];
  client = await connectMcp("2026-07-28", `${platform.url}/mcp?write=true`, await platform.token());
});
after(async () => {
  await client?.close();
  await platform?.close();
});

interface Row {
  [name: string]: unknown;
}

async function ask(name: string, args: Row): Promise<Row & { text: string }> {
  const { isError, answer, text } = await client.call(name, args);
  assert.equal(isError, false, text);
  return { ...answer, text };
}

async function failing(name: string, args: Row): Promise<string> {
  const { isError, text } = await client.call(name, args);
  assert.equal(isError, true, text);
  return text;
}

test("find_image finds repos, tags and digests, and goes on page by page", async () => {
  const { results } = await ask("find_image", { query: repo.name });
  assert.deepEqual(
    (results as Row[]).map(({ kind, image, repo_uid: uid }) => [kind, image, uid]),
    [["repo", repo.name, repo.repo]],
  );
  const tags = await ask("find_image", { query: "1.0", kinds: ["tag"] });
  assert.deepEqual(
    (tags["results"] as Row[]).map(({ image, digest }) => [image, digest]),
    [[`${repo.name}:1.0`, digests[1]]],
  );
  const seen: unknown[] = [];
  for (let token = "", pages = 0; pages < 10; pages += 1) {
    const page = await ask("find_image", { query: "sha256:", kinds: ["repo", "tag"], page_size: 1, page_token: token });
    seen.push(...(page["results"] as Row[]));
    token = String(page["next_page_token"]);
    if (token === "") break;
  }
  assert.deepEqual(seen, []);
  const found = await ask("find_image", { query: digests[0].slice(0, 20), kinds: ["digest"] });
  assert.deepEqual(
    (found["results"] as Row[]).map(({ image }) => image),
    [`${repo.name}@${digests[0]}`],
  );
});

test("tag_history and resolve_as_of answer by the history of the tag, with the host of the registry or without", async () => {
  const { moves } = await ask("tag_history", { image: `${repo.name}:1.0` });
  assert.deepEqual(
    (moves as Row[]).map(({ digest, previous_digest: previous, reason }) => [digest, previous, reason]),
    [
      [digests[1], digests[0], "push"],
      [digests[0], "", "push"],
    ],
  );
  const earlier = await ask("tag_history", { image: `${repo.name}:1.0`, before: between });
  assert.equal((earlier["moves"] as Row[]).length, 1);
  const host = new URL(platform.url).host;
  const then = await ask("resolve_as_of", { image: `${host}/${repo.name}:1.0`, time: between });
  assert.deepEqual([then["digest"], then["pull"]], [digests[0], `${host}/${repo.name}@${digests[0]}`]);
  const now = await ask("resolve_as_of", { image: `${repo.name}:1.0`, time: "2999-01-01" });
  assert.equal(now["digest"], digests[1]);
  assert.match(await failing("resolve_as_of", { image: `${repo.name}:1.0`, time: "2001-01-01" }), /NOT_FOUND/);
  assert.match(await failing("tag_history", { image: "acme/nothing:1.0" }), /NOT_FOUND[\s\S]*find_image/);
});

test("diff_images compares two points of a tag, of which the second may be short", async () => {
  for (const to of ["1.0", `${repo.name}:1.0`, digests[1], `${repo.name}@${digests[1]}`]) {
    const diff = await ask("diff_images", { from: `${repo.name}:1.0@${between}`, to });
    assert.deepEqual([(diff["from"] as Row)["digest"], (diff["to"] as Row)["digest"]], digests, String(diff["text"]));
    assert.deepEqual(
      (diff["packages"] as Row[]).map(({ change, name }) => [change, name]),
      [
        ["removed", "bad"],
        ["added", "clean"],
      ],
    );
    assert.deepEqual(
      (diff["vulnerabilities"] as Row[]).map(({ change, vulnerability, severity }) => [
        change,
        vulnerability,
        severity,
      ]),
      [["removed", "CVE-2026-1", "critical"]],
    );
  }
  assert.match(
    await failing("diff_images", { from: `${repo.name}:1.0`, to: "acme/other:1.0" }),
    /to: must be an image of/,
  );
  assert.match(await failing("diff_images", { from: repo.name, to: "1.0" }), /from: must name a tag or a digest/);
});

test("image_findings lists what holds now, what held then, and what is bad enough", async () => {
  const named = async (args: Row): Promise<unknown[]> =>
    ((await ask("image_findings", args))["findings"] as Row[]).map(({ vulnerability }) => vulnerability);
  assert.deepEqual(await named({ image: `${repo.name}:1.0` }), ["CVE-2026-2"]);
  assert.deepEqual(await named({ image: `${repo.name}@${digests[0]}` }), ["CVE-2026-1", "CVE-2026-2"]);
  assert.deepEqual(await named({ image: `${repo.name}@${digests[0]}`, min_severity: "high" }), ["CVE-2026-1"]);
  assert.deepEqual(await named({ image: `${repo.name}@${digests[0]}`, known_exploited: false }), ["CVE-2026-2"]);
  assert.deepEqual(await named({ image: `${repo.name}@${digests[0]}`, package: "bad" }), ["CVE-2026-1"]);
  const { findings } = await ask("image_findings", { image: `${repo.name}@${digests[0]}`, fixable: true });
  const [first] = findings as Row[];
  assert.deepEqual(
    [first?.["severity"], first?.["fix_state"], first?.["fix_versions"], first?.["known_exploited"]],
    ["critical", "fixed", ["2.0.0"], true],
  );
  assert.equal((await ask("image_findings", { image: `${repo.name}:1.0` }))["state"], "READ");
  const status = "Package: bash\nStatus: install ok installed\nArchitecture: amd64\nVersion: 5.2-1\n\n";
  await pushLayers(repo, "bare", [tarOf([{ path: "var/lib/dpkg/status", content: status }])]);
  const bare = await eventually(async () => {
    const answer = await ask("image_findings", { image: `${repo.name}:bare` });
    return answer["state"] !== "NOT_READ" && answer;
  });
  assert.deepEqual([bare["state"], bare["findings"]], ["NO_DATA", []]);
  const [unknown] = bare["unknown"] as Row[];
  assert.match(String(unknown?.["reason"]), /no feed covers 1 package of deb/);
});

test("what is not known of images is counted, listed, and said beside what is answered about them", async () => {
  const file = (name: string, version: string): { path: string; content: string } => ({
    path: `app/node_modules/${name}/package.json`,
    content: JSON.stringify({ name, version }),
  });
  await pushLayers(repo, "odd", [tarOf([file("clean", "1.0.0"), file("odd", "one point two")])]);
  const coverage = await eventually(async () => {
    const answer = await ask("image_coverage", { image: `${repo.name}:odd` });
    return answer["state"] !== "NOT_READ" && answer;
  });
  const known = coverage["images"] as Row[];
  assert.deepEqual(
    known.map((each) => [each["state"], each["packages"], each["not_compared"], each["packages_not_compared"]]),
    [["READ", 2, 1, ["pkg:npm/odd@one%20point%20two"]]],
    coverage.text,
  );
  assert.match(coverage.text, /1 package with a version that cannot be compared.*pkg:npm\/odd/);
  assert.equal(coverage["digest"], known[0]?.["digest"]);
  const then = await ask("image_coverage", { image: `${repo.name}:1.0@${between}` });
  assert.equal(then["digest"], digests[0]);
  assert.match(await failing("image_coverage", { image: repo.name }), /image: must name a tag or a digest/);
  assert.match(await failing("image_coverage", { image: `${repo.name}:none` }), /NOT_FOUND/);
  const single = await ask("image_findings", { image: `${repo.name}:odd` });
  assert.deepEqual([single["not_compared"], single["unknown_summary"]], [1, undefined]);
  assert.match(single.text, /1 package with a version that cannot be compared.*image_coverage/);

  // The image without a feed for its packages, of the test before.
  const bare = (await ask("image_coverage", { image: `${repo.name}:bare` }))["images"] as Row[];
  assert.deepEqual(
    bare.map((each) => [each["state"], each["uncovered"]]),
    [["NO_DATA", [{ ecosystem: "deb without a release", preset: "", packages: 1 }]]],
  );
  const whole = await ask("image_findings", { image: repo.name });
  assert.deepEqual(whole["unknown_summary"], {
    not_read: 0,
    no_data: 1,
    at_least: false,
    uncovered: [{ ecosystem: "deb without a release", preset: "", images: 1 }],
  });
  assert.match(whole.text, /Not known of 1 image: 0 NOT_READ, 1 NO_DATA\. list_unknown_images lists them\./);
  for (const args of [{}, { image: repo.name }, { group: "acme" }, { image: repo.name, state: "NO_DATA" }]) {
    const { images, text } = await ask("list_unknown_images", args);
    assert.deepEqual(
      (images as Row[]).map((each) => [each["image"], each["tags"], each["state"], each["waits"]]),
      [[repo.name, ["bare"], "NO_DATA", false]],
      JSON.stringify(args),
    );
    assert.match(text, new RegExp(`${repo.name}:bare .* NO_DATA: no feed covers 1 package of deb`));
  }
  assert.deepEqual((await ask("list_unknown_images", { state: "NOT_READ" }))["images"], []);

  const diff = await ask("diff_images", { from: `${repo.name}:odd`, to: "bare" });
  assert.deepEqual(diff["vulnerabilities_complete"], false);
  const [unknown] = diff["unknown"] as Row[];
  assert.deepEqual([unknown?.["side"], /no feed covers/.test(String(unknown?.["vulnerabilities"]))], ["to", true]);
  assert.match(diff.text, /not known of to, .*no feed covers 1 package of deb/);

  // A gate that lets unknown images pass says which do.
  await repo.gate({ kev: true, on: ["PROMOTE"], mode: "ENFORCE", onUnknown: "PASS" });
  const wish = { image: repo.name, promotions: [{ tag: "bare-live", from: "bare" }] };
  const shown = await ask("promote", wish);
  const done = await ask("promote", { ...wish, dry_run: false, preview: shown["preview"] });
  for (const answer of [shown, done]) {
    assert.deepEqual(
      (answer["unknown"] as Row[]).map((each) => [each["tag"], each["state"]]),
      [["bare-live", "NO_DATA"]],
    );
    assert.match(answer.text, /bare-live: the findings of sha256:\S+ are not known \(NO_DATA\)/);
  }
  await repo.gate(undefined);
});

test("explain_access answers for the caller, for another identity by its name, and for nobody", async () => {
  const own = await ask("explain_access", { action: "push", resource: `${repo.name}:1.0` });
  assert.deepEqual([own["allowed"], own["reason"], own["identity"]], [true, "ALLOWED", platform.owner]);
  const viewer = await platform.identity(platform.organization, "viewer");
  const { name } = await platform.ok("GET", `/iam/v2/identities/${viewer}`);
  const denied = await ask("explain_access", { identity: name, action: "push", resource: `${repo.name}:1.0` });
  assert.deepEqual([denied["allowed"], denied["identity"]], [false, viewer]);
  assert.ok((denied["missing"] as string[]).includes("CAP_MANIFEST_CREATE"), String(denied["missing"]));
  assert.ok((denied["remedies"] as string[]).length > 0);
  const method = await ask("explain_access", {
    identity: viewer,
    method: "ReposService/DeleteRepo",
    resource: repo.name,
  });
  assert.equal(method["allowed"], false);
  const group = await ask("explain_access", { method: "GroupsService/GetGroup", resource: "acme" });
  assert.equal(group["allowed"], true);
  const nobody = await ask("explain_access", { identity: "anonymous", action: "pull", resource: `${repo.name}:1.0` });
  assert.equal(nobody["allowed"], false);
  assert.match(await failing("explain_access", { resource: repo.name }), /action: give either an action or a method/);
  assert.match(
    await failing("explain_access", { identity: "nobody of that name", action: "pull", resource: repo.name }),
    /NOT_FOUND/,
  );
});

test("list_eol_tags lists tags with the paths of their images", async () => {
  const archive = path.join(platform.settings["MOORAGE_DATA_DIR"] ?? "", "products.zip");
  const page = `---\ntitle: A product\nidentifiers:\n  - purl: pkg:npm/bad\nreleases:\n  - releaseCycle: "1"\n    releaseDate: 2020-01-02\n    eol: 2021-01-01\n    latest: "1.9.9"\n---\nText.`;
  writeFileSync(archive, zipOf([{ name: "products/bad.md", content: page }]));
  await withFeeds(loadConfig(platform.settings), async (feeds) => {
    await feeds.add({ name: "eol", format: "endoflife", licence: "MIT" });
    await feeds.importData("eol", archive, {});
  });
  await platform.ok("PATCH", `/registry/v2/repos/${repo.repo}`, { product: { id: "bad" } });
  await platform.tag(repo.repo, { name: "old", digest: digests[0] });
  for (const args of [{}, { group: "acme" }, { tag: "old" }, { as_of: "2026-10-01" }]) {
    const { tags } = await ask("list_eol_tags", args);
    assert.deepEqual(
      (tags as Row[])
        .filter(({ digest }) => digest === digests[0])
        .map(({ image, product, version, eol_date: day, status, latest_version: latest, feed }) => [
          image,
          product,
          version,
          day,
          status,
          latest,
          feed,
        ]),
      [[`${repo.name}:old`, "bad", "1.0.0", "2021-01-01", "inactive", "1.9.9", "eol"]],
      JSON.stringify(args),
    );
  }
  assert.deepEqual((await ask("list_eol_tags", { as_of: "2020-06-01" }))["tags"], []);
  assert.match(await failing("list_eol_tags", { group: "nowhere" }), /NOT_FOUND/);
});

test("gc_preview counts and removes nothing", async () => {
  const { repo_count: repos, tags } = await ask("gc_preview", {});
  assert.deepEqual([typeof repos, tags], ["number", 0]);
});

test("promote shows what it would do, and does exactly that when it is confirmed", async () => {
  const wish = {
    image: repo.name,
    promotions: [
      { tag: "prod", from: "1.0" },
      { tag: "previous", from: digests[0] },
    ],
  };
  const shown = await ask("promote", wish);
  const moves = [
    { tag: "prod", before: "", after: digests[1] },
    { tag: "previous", before: "", after: digests[0] },
  ];
  assert.deepEqual([shown["dry_run"], shown["moves"]], [true, moves]);
  const tagged = async (): Promise<string[]> => {
    const { tags } = await platform.ok("GET", `/registry/v2/tags?uidp.children_of=${repo.repo}`);
    return (tags as { name: string }[]).map(({ name }) => name).toSorted();
  };
  assert.equal((await tagged()).includes("prod"), false, "nothing is written");
  for (const preview of ["", "sha256:0", String(shown["preview"]).replace(/.$/, "x")])
    assert.match(await failing("promote", { ...wish, dry_run: false, preview }), /preview/);
  const other = { ...wish, promotions: [{ tag: "prod", from: digests[0] }] };
  assert.match(await failing("promote", { ...other, dry_run: false, preview: shown["preview"] }), /not of these moves/);
  assert.equal((await tagged()).includes("prod"), false, "nothing is written");
  const done = await ask("promote", { ...wish, dry_run: false, preview: shown["preview"] });
  assert.deepEqual([done["dry_run"], done["moves"]], [false, moves]);
  assert.ok((await tagged()).includes("prod"));
});

test("a preview does not hold once a tag was moved", async () => {
  await platform.tag(repo.repo, { name: "stage", digest: digests[0] });
  const wish = { image: repo.name, promotions: [{ tag: "stage", from: digests[1] }] };
  const { preview } = await ask("promote", wish);
  await platform.tag(repo.repo, { name: "stage", digest: digests[1] });
  assert.match(await failing("promote", { ...wish, dry_run: false, preview }), /a tag was moved since/);
  await platform.tag(repo.repo, { name: "source", digest: digests[0] });
  const byTag = { image: repo.name, promotions: [{ tag: "live", from: "source" }] };
  const seen = await ask("promote", byTag);
  await platform.tag(repo.repo, { name: "source", digest: digests[1] });
  assert.match(await failing("promote", { ...byTag, dry_run: false, preview: seen["preview"] }), /preview/);
});

test("promote names what is wrong with a promotion", async () => {
  assert.match(
    await failing("promote", { image: `${repo.name}:1.0`, promotions: [{ tag: "a", from: "1.0" }] }),
    /image/,
  );
  assert.match(
    await failing("promote", { image: repo.name, promotions: [{ tag: "a", from: "not a tag" }] }),
    /promotions\[0\]\.from/,
  );
  assert.match(await failing("promote", { image: repo.name, promotions: [{ tag: "a", from: "none" }] }), /TAG_MISSING/);
});

test("image_signatures says who has signed and what policies make of it, and list_signature_policies what they ask", async () => {
  const key = newKey();
  const signer = await newSigner(platform, platform.organization, "release", [key]);
  await newPolicy(platform, platform.organization, {
    name: "signed",
    repoPattern: repo.name,
    rules: [{ name: "image", signers: [signer] }],
    documentSigners: [signer],
  });
  const { policies, text } = await ask("list_signature_policies", { group: "acme" });
  const [policy] = policies as Row[];
  assert.deepEqual(
    [policy?.["name"], policy?.["enforced"], policy?.["document_signers"]],
    ["signed", true, ["release"]],
  );
  assert.deepEqual(policy?.["rules"], [{ name: "image", signers: ["release"], threshold: 1, states: "image" }]);
  assert.equal(text, "signed (enforced): image by 1 of release; documents by release");
  const image = `${repo.name}@${digests[0]}`;
  const unsigned = await ask("image_signatures", { image });
  assert.deepEqual([unsigned["held"], unsigned["signatures"]], [true, []]);
  assert.match(unsigned.text, /blocked: .* is not signed as policy signed/);
  await pushCosign(repo, digests[0], [cosignLayer(key, cosignPayload(digests[0]))]);
  await verifiedSignatures(platform, repo, digests[0]);
  const signed = await ask("image_signatures", { image });
  assert.deepEqual([signed["held"], signed["pending"], signed["left_out"]], [false, false, 0]);
  assert.match(signed.text, /- TRUSTED image by release\nPolicy signed: SIGNED/);
  assert.match(await failing("image_signatures", { image: `${repo.name}:none` }), /NOT_FOUND/);
});
