import { documentRecords, stemOf } from "./documents.ts";
import type { Part } from "./parts.ts";
import type { Read } from "../records/record.ts";
import { csaf, cycloneDx, openVex } from "../vex/records.ts";

// VEX documents: a record is a document, its body the document as it was published.

const isDocument = ({ isWhole, name }: Part): boolean => isWhole || name.endsWith(".json");

/** Reads OpenVEX 0.2. Source: https://github.com/openvex/spec/blob/main/OPENVEX-SPEC.md. */
export async function* openVexRecords(part: Part): AsyncGenerator<Read> {
  if (isDocument(part)) yield* documentRecords(part, (document) => [openVex(document)]);
}

/** Reads CSAF 2.0 of the profiles VEX and security advisory. Source: OASIS CSAF 2.0, sections 4.4 and 4.5. */
export async function* csafRecords(part: Part): AsyncGenerator<Read> {
  if (isDocument(part)) yield* documentRecords(part, (document) => [csaf(document)]);
}

/** Reads CycloneDX with vulnerabilities. Source: ECMA-424, vulnerabilities and their analysis. */
export async function* cycloneDxRecords(part: Part): AsyncGenerator<Read> {
  if (isDocument(part)) yield* documentRecords(part, (document, name) => [cycloneDx(document, stemOf(name))]);
}
