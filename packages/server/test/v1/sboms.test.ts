import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Version } from "@cyclonedx/cyclonedx-library/Spec";
import { JsonStrictValidator } from "@cyclonedx/cyclonedx-library/Validation";
import { Registry } from "@moorage/api/v1/registry";
import { cycloneDx } from "../support/catalog/documents.ts";
import { pushArtifact } from "../support/catalog/push.ts";
import { spdxProblem } from "../support/schemas.ts";
import { type Item, type V1, v1Of } from "../support/v1/calls.ts";
import { type TaggedRepo, taggedRepo } from "../support/vuln-reports.ts";

const { getRawSbom, getSbom } = Registry.method;
const CYCLONEDX = "application/vnd.cyclonedx+json";

describe("bills of materials by v1", () => {
  let repo: TaggedRepo;
  let v1: V1;
  before(async () => {
    repo = await taggedRepo();
    v1 = await v1Of(repo.platform);
  });
  after(() => repo.platform.close());

  interface Graph {
    nodes: { package?: Item; file?: Item }[];
    edges: { subjectId: string; predicateId: string; type: string }[];
  }

  test("an image's is a graph of its packages and files, and a valid document", async () => {
    const digest = await repo.image("left-pad@1.0.0", "other@2.0.0");
    const sbom = await v1.read(getSbom, { repoId: repo.uid, digest });
    const { nodes, edges } = sbom["graph"] as Graph;
    const packages = nodes.flatMap((each): Item[] => (each.package === undefined ? [] : [each.package]));
    assert.deepEqual(
      packages.map(({ name, version, purl }) => ({ name, version, ...(purl !== undefined && { purl }) })),
      [
        { name: repo.path, version: digest },
        { name: "left-pad", version: "1.0.0", purl: "pkg:npm/left-pad@1.0.0" },
        { name: "other", version: "2.0.0", purl: "pkg:npm/other@2.0.0" },
      ],
    );
    const files = nodes.flatMap((each): Item[] => (each.file === undefined ? [] : [each.file]));
    assert.deepEqual(
      files.map(({ name }) => name),
      ["app/node_modules/left-pad/package.json", "app/node_modules/other/package.json"],
    );
    const [image, ...held] = packages.map(({ id }) => String(id));
    assert.deepEqual(edges, [
      ...held.map((id) => ({ subjectId: image, predicateId: id, type: "CONTAINS" })),
      ...held.map((id, at) => ({ subjectId: files[at]?.["id"], predicateId: id, type: "DESCRIBES" })),
    ]);
    assert.deepEqual(
      [sbom["id"], sbom["digest"], sbom["tool"], sbom["format"], sbom["source"], sbom["name"]],
      [digest, digest, "moorage", "cyclonedx", "GENERATED", `${repo.path}@${digest}`],
    );
    assert.ok(sbom["lastSeen"] && sbom["generatedAt"]);
    const document = Buffer.from(String(sbom["rawSbom"]), "base64").toString();
    assert.equal(await new JsonStrictValidator(Version.v1dot6).validate(document), null);
    assert.ok(document.includes("pkg:npm/left-pad@1.0.0"));
    const raw = JSON.parse(String((await v1.read(getRawSbom, { repoId: repo.uid, digest }))["rawSbom"])) as object;
    assert.equal(spdxProblem(raw), undefined);
    assert.ok(JSON.stringify(raw).includes("pkg:npm/other@2.0.0"));
  });

  test("what is attached to an image counts, and is answered as it was pushed", async () => {
    const digest = await repo.image("left-pad@1.0.0");
    const content = cycloneDx(["attached"]);
    await pushArtifact(await repo.target(), {
      artifactType: CYCLONEDX,
      subject: digest,
      layers: [{ mediaType: CYCLONEDX, content }],
    });
    await repo.settled();
    const raw = await v1.read(getRawSbom, { repoId: repo.uid, digest, reference: "ignored" });
    assert.equal(raw["rawSbom"], content);
    const sbom = await v1.read(getSbom, { repoId: repo.uid, digest });
    assert.equal(sbom["source"], "INGESTED");
    const purls = (sbom["graph"] as Graph).nodes.flatMap((each) => each.package?.["purl"] ?? []);
    // What was read of the layers stays beside it.
    assert.deepEqual(purls, ["pkg:npm/attached@1.0.0", "pkg:npm/left-pad@1.0.0"]);
  });

  test("rights and errors are those of v2, with v1's names", async () => {
    const digest = await repo.image("left-pad@1.0.0");
    const asked = { repoId: repo.uid, digest };
    for (const method of [getSbom, getRawSbom]) {
      assert.deepEqual(await v1.refused(method, asked, "none"), [401]);
      assert.deepEqual(await v1.refused(method, asked, "stranger"), [404]);
      assert.deepEqual(await v1.read(method, asked, "viewer"), await v1.read(method, asked));
      assert.deepEqual(await v1.refused(method, { ...asked, arch: "arm64" }), [400, "arch"]);
      assert.deepEqual(await v1.refused(method, { ...asked, digest: `sha256:${"0".repeat(64)}` }), [404]);
    }
  });
});
