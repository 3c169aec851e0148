import type { MessageInitShape } from "@bufbuild/protobuf";
import { SbomFormat, SbomsService } from "@moorage/api/messages";
import { Registry } from "@moorage/api/v1/registry";
import {
  ComponentGraph_Edge_Type as EdgeType,
  type ComponentGraphSchema,
  type Package2Schema,
  Sbom2_Source as Source,
} from "@moorage/api/v1/tenant";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { cycloneDxDocument, type Holdings } from "@moorage/security/security";
import { reading, type Translation } from "../service.ts";
import { lastSeen } from "./last-pull.ts";
import { OWN_NAME } from "./scanners.ts";

const { getRawSbom, getSbom } = SbomsService.method;

/** The bills of materials of images. */
export const sboms: Pick<Translation<typeof Registry>, "getSbom" | "getRawSbom"> = {
  getSbom: reading(Registry.method.getSbom, async (call, { repoId: repo, digest, arch: architecture }) => {
    const { document, holdings, name } = await cycloneDxDocument(call, { repo, digest, architecture, source: "" });
    return {
      id: digest,
      rawSbom: Buffer.from(document),
      graph: graphOf({ name, digest }, holdings),
      ...(await lastSeen(call.tx, repo, digest)),
      tool: OWN_NAME,
      format: "cyclonedx",
      generatedAt: timestamp(holdings.readMs),
      authors: "",
      source: holdings.sources.some(isAttached) ? Source.INGESTED : Source.GENERATED,
      name: `${name}@${digest}`,
      description: "",
      digest,
    };
  }),
  // `reference` names the same image for people.
  async getRawSbom(v2, { repoId: repoUid, digest, arch: architecture, reference: _reference }) {
    try {
      const { content } = await v2.answer(getRawSbom, { repoUid, digest, architecture });
      return { rawSbom: Buffer.from(content).toString() };
    } catch (error) {
      if (!isNotAttached(error)) throw error;
      const { document } = await v2.answer(getSbom, { repoUid, digest, architecture, format: SbomFormat.SPDX });
      return { rawSbom: JSON.stringify(document) };
    }
  },
};

/** Whether an attached document says what an image holds: not the server's reading of it, and not a scanner. */
const isAttached = (source: string): boolean => source.includes(":");

const isNotAttached = (error: unknown): boolean =>
  error instanceof MoorageError &&
  error.code === Code.FailedPrecondition &&
  (error.details.preconditionViolations ?? []).some(({ type }) => type === "SBOM_NOT_ATTACHED");

/** A package as v1 has it. */
export function packageMessage(held: {
  id: string;
  name: string;
  version: string;
  licence: string;
  purl: string;
}): Exclude<MessageInitShape<typeof Package2Schema>, { $typeName: string }> {
  const { id, name, version, licence: license, purl } = held;
  return { id, name, version, license, description: "", purl };
}

/** The image contains its packages, and the files in which they were found describe them. */
function graphOf(
  { name, digest }: { name: string; digest: string },
  { packages }: Holdings,
): MessageInitShape<typeof ComponentGraphSchema> {
  const files = new Map<string, string>();
  const describes: { subjectId: string; predicateId: string; type: EdgeType }[] = [];
  for (const { id, places } of packages)
    for (const { layer, path } of places) {
      if (path === "") continue;
      const file = `${layer} ${path}`;
      files.set(file, path);
      describes.push({ subjectId: file, predicateId: id, type: EdgeType.DESCRIBES });
    }
  const image = { id: digest, name, version: digest, license: "", description: "", purl: "" };
  return {
    nodes: [
      { typedNode: { case: "package", value: image } },
      ...packages.map((held) => ({ typedNode: { case: "package" as const, value: packageMessage(held) } })),
      ...[...files].map(([id, path]) => ({
        typedNode: { case: "file" as const, value: { id, name: path, types: [] } },
      })),
    ],
    edges: [
      ...packages.map(({ id }) => ({ subjectId: digest, predicateId: id, type: EdgeType.CONTAINS })),
      ...describes,
    ],
  };
}
