import { parsedPurl } from "@moorage/kernel/lib/purls";
import { UnreadableRecord } from "../records/record.ts";
import { targetOf } from "../vex/applies.ts";
import { csafDocument } from "../vex/csaf.ts";
import { cycloneDxDocument } from "../vex/cyclonedx.ts";
import { openVexDocument } from "../vex/openvex.ts";
import { storable, storableIds } from "../vex/storable.ts";
import { bomLink } from "../vex/bom-links.ts";
import type { VexDocument, VexStatement } from "../vex/types.ts";
import { AttachedError, type PassedOver, type StoredStatement } from "./types.ts";

const MAX_STATEMENTS = 20_000;
/** The most that is kept of statements about something else, and of the name of what they are about. */
const MAX_PASSED_OVER = 1_000;
const MAX_NAMED = 500;
const NAMES_NO_VULNERABILITY = "it names no vulnerability by an id";

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
  passedOver: { total: number; first: PassedOver[] };
}

/**
 * The statements of a document of the kind that are about the subject or a package. Throws an AttachedError that names
 * the field, or says that none is.
 */
export function vexOf(kind: string, document: unknown, subject: string): StatedVex {
  const { id, author, statements } = read(kind, document);
  const first: PassedOver[] = [];
  let total = 0;
  const about = statements.flatMap((each): StoredStatement[] => {
    // What a link means is seen by what is attached in a repo.
    const isLink = each.product === "" && bomLink(each.component) !== undefined;
    const target = isLink ? each.component : targetOf(each, subject);
    const ids = storableIds(each.ids);
    const { status, justification, impact, product, component, timeMs, remedies } = each;
    if (target === undefined || ids.length === 0) {
      total += 1;
      const named = storable([component, product].filter(Boolean).join(" in ").slice(0, MAX_NAMED));
      const reason = ids.length === 0 ? NAMES_NO_VULNERABILITY : reasonFor(each);
      if (first.length < MAX_PASSED_OVER) first.push({ ids, status, product: named, reason });
      return [];
    }
    const texts = { impact: storable(impact), product: storable(product), target: storable(target) };
    return [{ ids, status, justification, timeMs, remedies, ...texts }];
  });
  if (about.length > MAX_STATEMENTS) throw new AttachedError(`it has more than ${MAX_STATEMENTS} statements`);
  if (about.length === 0) throw new AttachedError(`no statement of it is about ${subject} or a package in it`);
  return { documentId: storable(id), author: storable(author), statements: about, passedOver: { total, first } };
}

/** Why a statement is about nothing in the image. */
function reasonFor({ product, component }: VexStatement): string {
  return parsedPurl(component || product) === undefined
    ? "it names no package by a package URL, and not the image by its digest"
    : "it is about another image, or about a package of another product";
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
