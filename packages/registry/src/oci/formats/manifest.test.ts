import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { OCI_INDEX } from "@moorage/kernel/core/media-types";
import { parseManifest } from "./manifest.ts";

const IMAGE = "application/vnd.oci.image.manifest.v1+json";
const DOCKER = "application/vnd.docker.distribution.manifest.v2+json";
const DOCKER_LIST = "application/vnd.docker.distribution.manifest.list.v2+json";
const digest = (digit: string): string => `sha256:${digit.repeat(64)}`;
const descriptor = (
  digit: string,
  mediaType = "application/vnd.oci.image.layer.v1.tar+gzip",
): Record<string, unknown> => ({ mediaType, digest: digest(digit), size: 1 });
const image = (change: Record<string, unknown> = {}): Record<string, unknown> => ({
  schemaVersion: 2,
  mediaType: IMAGE,
  config: descriptor("c", "application/vnd.oci.image.config.v1+json"),
  layers: [descriptor("1"), descriptor("2")],
  ...change,
});
const parse = (body: unknown, contentType = ""): ReturnType<typeof parseManifest> =>
  parseManifest(Buffer.from(typeof body === "string" ? body : JSON.stringify(body)), contentType);
const problem = (body: unknown, contentType = ""): string => {
  const found = parse(body, contentType);
  return "problem" in found ? found.problem : "";
};

test("parsing an image gives each reference once, its subject, artifact type and annotations", () => {
  assert.deepEqual(
    parse(
      image({ layers: [descriptor("1"), descriptor("1")], annotations: { a: "b" }, subject: descriptor("5", IMAGE) }),
      IMAGE,
    ),
    {
      mediaType: IMAGE,
      subject: digest("5"),
      artifactType: "application/vnd.oci.image.config.v1+json",
      annotations: { a: "b" },
      references: [
        { digest: digest("c"), kind: "blob", size: 1 },
        { digest: digest("1"), kind: "blob", size: 1 },
      ],
      image: { config: digest("c"), size: 3 },
    },
  );
  const artifact = parse(
    image({ mediaType: undefined, artifactType: "application/x.sbom" }),
    `${IMAGE}; charset=utf-8`,
  );
  assert.ok("artifactType" in artifact && artifact.artifactType === "application/x.sbom");
});

test("non-distributable layers are not among the references", () => {
  for (const type of [
    "application/vnd.oci.image.layer.nondistributable.v1.tar+gzip",
    "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip",
  ]) {
    const found = parse(image({ layers: [{ ...descriptor("9", type), urls: ["https://example.com/layer"] }] }));
    assert.ok("references" in found);
    assert.deepEqual(found.references, [{ digest: digest("c"), kind: "blob", size: 1 }]);
  }
});

test("entries of an index are manifests by their media type, all others are blobs", () => {
  const manifests = [
    { ...descriptor("1", IMAGE), platform: { architecture: "arm64", os: "linux" } },
    descriptor("2", OCI_INDEX),
    descriptor("3"),
  ];
  const found = parse({ schemaVersion: 2, mediaType: OCI_INDEX, manifests });
  assert.ok("references" in found);
  assert.deepEqual(
    found.references.map(({ kind }) => kind),
    ["manifest", "manifest", "blob"],
  );
  assert.ok("mediaType" in parse({ schemaVersion: 2, manifests: [] }, OCI_INDEX));
  assert.ok(
    "mediaType" in
      parse({ schemaVersion: 2, mediaType: DOCKER_LIST, manifests: [descriptor("1", DOCKER)] }, DOCKER_LIST),
  );
});

test("of a duplicate key the last value counts", () => {
  const found = parse(
    JSON.stringify(image()).replace("{", `{"artifactType":"application/a","artifactType":"application/b",`),
  );
  assert.ok("artifactType" in found && found.artifactType === "application/b");
});

test("an invalid manifest is rejected with the reason", () => {
  const cases: [unknown, RegExp, string?][] = [
    ["", /JSON/],
    ["null", /object/],
    ["[]", /object/],
    ["{", /JSON/],
    [`\ufeff${JSON.stringify(image())}`, /JSON/],
    [image({ schemaVersion: 1 }), /schemaVersion/],
    [image({ schemaVersion: "2" }), /schemaVersion/],
    [image({ mediaType: undefined }), /needed/],
    [image(), /differ/, OCI_INDEX],
    [image({ mediaType: 3 }), /mediaType/],
    [image({ mediaType: undefined }), /missing/, DOCKER],
    [
      { schemaVersion: 1, name: "x", fsLayers: [] },
      /media type/,
      "application/vnd.docker.distribution.manifest.v1+prettyjws",
    ],
    [image({ mediaType: "application/json" }), /media type/],
    [image({ manifests: [] }), /either/],
    [{ schemaVersion: 2, mediaType: OCI_INDEX, manifests: [], layers: [] }, /either/],
    [image({ config: undefined }), /config must/],
    [image({ layers: undefined }), /layers must/],
    [image({ layers: {} }), /layers must/],
    [image({ layers: [null] }), /layers\[0\]/],
    [image({ layers: [{ ...descriptor("1"), size: -1 }] }), /layers\[0\]\.size/],
    [image({ layers: [{ ...descriptor("1"), size: 1.5 }] }), /size/],
    [image({ layers: [{ ...descriptor("1"), size: "1" }] }), /size/],
    [image({ layers: [{ ...descriptor("1"), digest: "sha256:1" }] }), /digest/],
    [image({ layers: [{ ...descriptor("1"), digest: digest("A") }] }), /digest/],
    [image({ layers: [{ ...descriptor("1"), mediaType: "" }] }), /mediaType/],
    [image({ layers: [{ ...descriptor("1"), urls: [1] }] }), /urls/],
    [image({ annotations: { a: 1 } }), /annotations/],
    [image({ annotations: [] }), /annotations/],
    [image({ artifactType: "sbom" }), /artifactType/],
    [image({ subject: "x" }), /subject/],
    [image({ subject: { digest: digest("1") } }), /subject/],
    [{ schemaVersion: 2, mediaType: OCI_INDEX }, /manifests must/],
    [
      { schemaVersion: 2, mediaType: OCI_INDEX, manifests: [{ ...descriptor("1", IMAGE), platform: { os: "linux" } }] },
      /platform/,
    ],
    [`{"a":${"[".repeat(5000)}${"]".repeat(5000)}}`, /deep/],
    [image({ layers: Array(10_001).fill(descriptor("1")) }), /entries/],
    [image({ annotations: Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [n, ""])) }), /annotations has/],
    [image({ other: Array(50_001).fill(0) }), /values/],
  ];
  for (const [body, expected, contentType] of cases)
    assert.match(problem(body, contentType), expected, JSON.stringify(body).slice(0, 200));
  assert.match((parseManifest(Uint8Array.of(0x7b, 0xff, 0x7d), IMAGE) as { problem: string }).problem, /UTF-8/);
});

test("a key that differs from a known one only by case is rejected, at every level", () => {
  const variant = (key: string): Record<string, unknown> => ({ ...descriptor("1"), [key]: digest("2") });
  const entry = { ...descriptor("1", IMAGE), platform: { os: "linux", architecture: "amd64", Architecture: "arm64" } };
  const index = { schemaVersion: 2, mediaType: OCI_INDEX, manifests: [entry] };
  for (const [body, said] of [
    [image({ Layers: [descriptor("3")] }), "the manifest has the key Layers; layers is meant"],
    [image({ layerſ: [descriptor("3")] }), "the manifest has the key layerſ; layers is meant"],
    [image({ MEDIATYPE: IMAGE }), "the manifest has the key MEDIATYPE; mediaType is meant"],
    [image({ Subject: descriptor("3", IMAGE) }), "the manifest has the key Subject; subject is meant"],
    [image({ manifestS: [] }), "the manifest has the key manifestS; manifests is meant"],
    [image({ layers: [variant("Digest")] }), "layers[0] has the key Digest; digest is meant"],
    [image({ config: variant("SIZE") }), "config has the key SIZE; size is meant"],
    [image({ subject: variant("Urls") }), "subject has the key Urls; urls is meant"],
    [index, "manifests[0].platform has the key Architecture; architecture is meant"],
  ] as const)
    assert.equal(problem(body), said);
  const own = image({ annotations: { Config: "x", config: "y" }, "com.example.Layers": 1 });
  assert.equal(problem(own), "", "keys of others are theirs");
});

test("brackets inside strings do not count as nesting", () => {
  assert.equal(problem(image({ annotations: { a: `${"[{".repeat(500)}\\"${"[".repeat(500)}` } })), "");
});

test("property: any bytes and any JSON are parsed or rejected without an exception", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => assert.ok(parseManifest(bytes, IMAGE))));
  const key = fc.constantFrom(
    "schemaVersion",
    "mediaType",
    "config",
    "layers",
    "manifests",
    "subject",
    "artifactType",
    "annotations",
    "digest",
    "size",
    "urls",
    "platform",
    "__proto__",
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom(2, IMAGE, OCI_INDEX, digest("1"), null, -1, ""),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(key, tie("value"), { maxKeys: 6 }),
    ),
  }));
  fc.assert(
    fc.property(value, fc.constantFrom("", IMAGE, OCI_INDEX, DOCKER, DOCKER_LIST), (body, contentType) => {
      parse(JSON.stringify(body), contentType);
    }),
    { numRuns: 500 },
  );
});

test("property: every digest of a valid image is found", () => {
  const hex = fc
    .string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 64, maxLength: 64 })
    .map((text) => `sha256:${text}`);
  fc.assert(
    fc.property(fc.array(hex, { maxLength: 20 }), hex, (layers, config) => {
      const found = parse(
        image({
          config: { ...descriptor("c"), digest: config },
          layers: layers.map((each) => ({ ...descriptor("1"), digest: each })),
        }),
      );
      assert.ok("references" in found);
      assert.deepEqual(new Set(found.references.map((reference) => reference.digest)), new Set([config, ...layers]));
    }),
  );
});
