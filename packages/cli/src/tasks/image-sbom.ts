// `moorage images sbom`: which packages an image holds.
import { writeFileSync } from "node:fs";
import { pin } from "../api/image-digest.ts";
import { numberIn, objectIn, objectsIn, textIn, textsIn } from "../api/json-fields.ts";
import type { JsonObject } from "../api/rest.ts";
import { UsageFailure, Failure } from "../command/failure.ts";
import { jsonText } from "../output/json.ts";
import type { Listing } from "../output/listing.ts";
import { printItem, printList, printMessage } from "../output/output.ts";
import { noteDisagreements } from "./disagreements.ts";
import { openSession, type TaskFlags } from "./session.ts";

export interface SbomFlags extends TaskFlags {
  format: "cyclonedx" | "spdx";
  architecture?: string;
  source?: string;
  file?: string;
}

const LISTS = ["table", "wide", "csv", "name", "id"];

const COMPONENTS: Listing = {
  field: "components",
  columns: [
    { header: "PACKAGE", flexible: true, value: (each) => textIn(each, "name") },
    { header: "VERSION", value: (each) => textIn(each, "version") },
    { header: "TYPE", value: (each) => /^pkg:([^/]+)/.exec(textIn(each, "purl"))?.[1] ?? textIn(each, "type") },
    { header: "LICENCE", flexible: true, value: licencesOf },
    { header: "PURL", wide: true, value: (each) => textIn(each, "purl") },
    { header: "SAID BY", wide: true, value: (each) => propertiesOf(each, "moorage:said-by") },
    { header: "CONTRADICTED BY", wide: true, value: (each) => propertiesOf(each, "moorage:contradicted-by") },
  ],
  nameOf: (each) => textIn(each, "purl") || textIn(each, "name"),
  idOf: (each) => textIn(each, "purl"),
};

function propertiesOf(component: JsonObject, name: string): string {
  return objectsIn(component, "properties")
    .filter((each) => textIn(each, "name") === name)
    .map((each) => textIn(each, "value"))
    .join(", ");
}

function licencesOf(component: JsonObject): string {
  return objectsIn(component, "licenses")
    .map(
      (each) =>
        textIn(each, "expression") ||
        textIn(objectIn(each, "license"), "id") ||
        textIn(objectIn(each, "license"), "name"),
    )
    .join(", ");
}

/** Prints the document, or with `-o table`, `wide`, `csv`, `name` or `id` the packages that it names. */
export async function printSbom(reference: string, flags: SbomFlags): Promise<void> {
  const isList = flags.output !== undefined && LISTS.includes(flags.output);
  if (isList && flags.file !== undefined) throw new UsageFailure("--file: is for the document, which -o lists");
  const session = await openSession(flags);
  const { repo, digest } = await pin(session, await session.names.imageOf(reference));
  const sbom = await session.rest.call("GET", `/registry/v2/repos/${repo}/digests/${digest}/sbom`, {
    query: {
      // The packages are read from the one document, whatever the other is called for.
      format: isList ? "CYCLONEDX" : flags.format.toUpperCase(),
      ...(flags.architecture !== undefined && { architecture: flags.architecture }),
      ...(flags.source !== undefined && { source: flags.source }),
    },
  });
  const document = objectIn(sbom, "document");
  noteDisagreements(
    objectsIn(sbom, "contradictions").map((each) => ({
      purl: textIn(each, "purl"),
      sources: textsIn(each, "sources"),
      by: objectsIn(each, "contradictedBy"),
    })),
    numberIn(sbom, "contradictionsTotal"),
  );
  if (isList) {
    const items = async function* () {
      yield* objectsIn(document, "components");
    };
    return printList(items(), COMPONENTS, flags);
  }
  if (flags.file !== undefined) {
    try {
      writeFileSync(flags.file, `${jsonText(document)}\n`);
    } catch (cause) {
      throw new Failure(`cannot write ${flags.file}: ${(cause as Error).message}`, { cause });
    }
    return printMessage(`wrote ${flags.file}`);
  }
  const asJson = flags.output === undefined && flags.jq === undefined ? { ...flags, output: "json" } : flags;
  await printItem(document, COMPONENTS, asJson);
}
