import { UnreadableRecord } from "../feeds/record.ts";
import { targetOf } from "../vex/applies.ts";
import { csafDocument } from "../vex/csaf.ts";
import { cycloneDxDocument } from "../vex/cyclonedx.ts";
import { openVexDocument } from "../vex/openvex.ts";
import { storable, storableIds } from "../vex/storable.ts";
import type { VexDocument } from "../vex/types.ts";
import { AttachedError, type StoredStatement } from "./types.ts";

const MAX_STATEMENTS = 20_000;

const READERS: Readonly<Record<string, (document: unknown) => VexDocument>> = {
  openvex: openVexDocument,
  csaf: csafDocument,
  cyclonedx: cycloneDxDocument,
};

/** What a VEX document says of the image that it is attached to. */
export interface StatedVex {
  documentId: string;
  author: string;
  statements: StoredStatement[];
}

/**
 * The statements of a document of the kind that are about the subject or a package. Throws an AttachedError that names
 * the field, or says that none is.
 */
export function vexOf(kind: string, document: unknown, subject: string): StatedVex {
  const { id, author, statements } = read(kind, document);
  const about = statements.flatMap((each): StoredStatement[] => {
    const target = targetOf(each, subject);
    const ids = storableIds(each.ids);
    if (target === undefined || ids.length === 0) return [];
    const { status, justification, impact, product, timeMs } = each;
    const texts = { impact: storable(impact), product: storable(product), target: storable(target) };
    return [{ ids, status, justification, timeMs, ...texts }];
  });
  if (about.length > MAX_STATEMENTS) throw new AttachedError(`it has more than ${MAX_STATEMENTS} statements`);
  if (about.length === 0) throw new AttachedError(`no statement of it is about ${subject} or a package in it`);
  return { documentId: storable(id), author: storable(author), statements: about };
}

function read(kind: string, document: unknown): VexDocument {
  try {
    const reader = READERS[kind];
    if (reader === undefined) throw new AttachedError("it is not a VEX document");
    return reader(document);
  } catch (error) {
    if (error instanceof UnreadableRecord) throw new AttachedError(error.message, { cause: error });
    throw error;
  }
}
