import { randomBytes } from "node:crypto";
import {
  addBlob,
  addImage,
  addImageOf,
  addIndex,
  addIndexOf,
  type Content,
  digestOf,
  emptyContent,
  type ImageOptions,
  OCI,
  OCTETS,
} from "./content.ts";

const PLATFORMS = ["amd64", "arm64"];
const TYPE_ONE = "application/vnd.example.conformance.one";
const TYPE_TWO = "application/vnd.example.conformance.two";
const EMPTY_JSON = Buffer.from("{}");
/** With the rest of the manifest just below the 4 MiB that a registry must accept. */
const LARGE = Object.fromEntries(Array.from({ length: 390 }, (_, at) => [`large.${at}`, "A".repeat(10_000)]));

function artifact(options: ImageOptions = {}): ImageOptions {
  return {
    artifactType: TYPE_ONE,
    configType: OCI.empty,
    configContent: EMPTY_JSON,
    layers: 1,
    layerType: TYPE_ONE,
    ...options,
  };
}

function noted(): Record<string, string> {
  return { "example.conformance": "a note", [`example.${randomBytes(8).toString("hex")}`]: "another" };
}

/** Kinds of content that a registry must store unchanged; the suite's OCI_DATA_… settings, except those of `tagged`. */
export const KINDS: Record<string, (content: Content) => unknown> = {
  image: (content) => addImage(content, { tag: "image" }),
  "image with uncompressed layers": (content) => addImage(content, { tag: "uncompressed", layerType: OCI.layer }),
  "manifest of nearly 4 MiB": (content) => addImage(content, { tag: "large", annotations: LARGE }),
  index: (content) => addIndex(content, PLATFORMS, { tag: "index" }),
  "index of indexes": (content) =>
    addIndexOf(content, [addIndex(content, PLATFORMS), addIndex(content, PLATFORMS)], { tag: "index-of-indexes" }),
  "index of nothing": (content) => addIndexOf(content, [], { tag: "empty-index" }),
  artifact: (content) => addImage(content, artifact({ tag: "artifact" })),
  "index of artifacts": (content) => addIndex(content, PLATFORMS, artifact({ tag: "artifacts" })),
  "artifact with nothing but the empty layer": (content) =>
    addImage(content, artifact({ tag: "no-content", layerType: OCI.empty, layerContent: EMPTY_JSON })),
  "image without layers": (content) => addImage(content, { tag: "no-layers", layers: 0 }),
  "image with referrers": (content) => {
    const subject = addImage(content, { tag: "subject" });
    addImage(content, { subject });
    addImage(content, artifact({ subject, annotations: noted(), tag: "referrer-one" }));
    addImage(
      content,
      artifact({ subject, annotations: noted(), tag: "referrer-two", artifactType: TYPE_TWO, layerType: OCTETS }),
    );
  },
  "index with an index as its referrer": (content) => {
    const subject = addIndex(content, PLATFORMS, { tag: "subject-index" });
    addIndex(content, PLATFORMS, artifact({ subject, annotations: noted(), tag: "referrer-index" }));
  },
  "referrer of what is not there": (content) => {
    const subject = { mediaType: OCI.image, digest: digestOf(randomBytes(32)), size: 123 };
    addImage(content, artifact({ subject, annotations: noted(), tag: "referrer-of-nothing" }));
  },
  "descriptors with data": (content) => addImage(content, { tag: "inline", inline: true }),
  "layers that are not distributed": (content) => {
    const elsewhere = (mediaType: string, size: number): Parameters<typeof addImageOf>[2][number] => {
      const digest = digestOf(randomBytes(32));
      return { mediaType, digest, size, urls: [`https://layers.example.com/${digest}`] };
    };
    const layers = [
      elsewhere(OCI.foreignGzip, 123_456),
      elsewhere(OCI.foreign, 12_345),
      addBlob(content, OCI.layerGzip, randomBytes(512)),
    ];
    const config = Buffer.from(JSON.stringify({ os: "linux", architecture: "amd64", rootfs: { type: "layers" } }));
    addImageOf(content, addBlob(content, OCI.config, config), layers, { tag: "not-distributed" });
  },
  "members that no specification knows": (content) =>
    addIndex(content, PLATFORMS, {
      tag: "extra-members",
      extra: { [`x-${randomBytes(4).toString("hex")}`]: { list: [1, "two", null] }, "org.example.extra": "kept" },
    }),
  "sha512, without a tag": (content) => addIndex(content, PLATFORMS, { algorithm: "sha512" }),
};

/** Every manifest gets a tag of its own, and the index two. */
export function tagged(algorithm: "sha256" | "sha512"): Content {
  const content = emptyContent();
  addIndex(content, PLATFORMS, { algorithm, tag: `by-parameter-${algorithm}` });
  [...content.manifests.keys()].forEach((digest, at) => content.tags.set(`by-parameter-${algorithm}-${at}`, digest));
  return content;
}
