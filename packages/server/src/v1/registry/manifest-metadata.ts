import { create, type MessageShape } from "@bufbuild/protobuf";
import { GetArchitecturesRequestSchema } from "@moorage/api/messages";
import {
  type ManifestMetadataFilterEntry,
  ManifestMetadataFilterSchema,
  ManifestMetadataListSchema,
  ManifestMetadataSchema,
  Registry,
} from "@moorage/api/v1/registry";
import { violationsOf } from "@moorage/kernel/aip/validate";
import { type FieldViolation, invalidArgument } from "@moorage/kernel/errors";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { repos } from "@moorage/registry/registry";
import { type ImagePackages, packageFacts } from "@moorage/security/security";
import { reading, type Translation } from "../service.ts";
import { listed, orElsewhere } from "../v2.ts";

const MAX_ITEMS = 100;

export const manifestMetadata: Pick<Translation<typeof Registry>, "listManifestMetadata"> = {
  listManifestMetadata: reading(Registry.method.listManifestMetadata, async (call, { repoId, items }) => {
    if (items.length > MAX_ITEMS)
      throw invalidArgument({ field: "items", description: `must have at most ${MAX_ITEMS} entries` });
    const violations: FieldViolation[] = [];
    const images = items.map((item, at) => imageOf(item, `items[${at}]`, violations));
    if (violations.length > 0) throw invalidArgument(...violations);
    const { uid } = await repos.get(call.tx, repoId);
    return await listed(ManifestMetadataListSchema, numbersTo(images.length), (at) =>
      orElsewhere(
        call,
        () => create(ManifestMetadataFilterSchema, { repoId, items: items.slice(at, at + 1) }),
        async () => {
          const found: MessageShape<typeof ManifestMetadataSchema>[] = [];
          for await (const each of packageFacts(call, uid, images.slice(at, at + 1))) found.push(metadataOf(each));
          return found;
        },
      ),
    );
  }),
};

async function* numbersTo(end: number): AsyncGenerator<number, void, undefined> {
  for (let at = 0; at < end; at++) yield at;
}

function imageOf(
  { filter }: ManifestMetadataFilterEntry,
  field: string,
  violations: FieldViolation[],
): { digest: string; architecture: string } {
  const digestAt = (at: string, digest: string): string => {
    // By the rule that v2's methods about images have.
    const found = violationsOf(GetArchitecturesRequestSchema, create(GetArchitecturesRequestSchema, { digest }));
    for (const { description } of found.filter((each) => each.field === "digest"))
      violations.push({ field: `${field}.${at}`, description });
    return digest;
  };
  if (filter.case === "imageDigest") return { digest: digestAt("imageDigest", filter.value), architecture: "" };
  if (filter.case === "indexFilter") {
    const { digest, arch } = filter.value;
    digestAt("indexFilter.digest", digest);
    if (arch === "") violations.push({ field: `${field}.indexFilter.arch`, description: "is required" });
    return { digest, architecture: arch };
  }
  violations.push({ field, description: "must have an imageDigest or an indexFilter" });
  return { digest: "", architecture: "" };
}

// When packages were built is not known: `buildTimestamp` stays absent.
function metadataOf({ digest, packages }: ImagePackages): MessageShape<typeof ManifestMetadataSchema> {
  return create(ManifestMetadataSchema, {
    digest,
    pkgMetadata: packages.map(({ purl, originPurl, eolMs, licence: license }) => ({
      purl,
      originPurl,
      ...(eolMs !== undefined && { eolDate: timestamp(eolMs) }),
      license,
    })),
  });
}
