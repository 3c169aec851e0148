import { type DocumentKind, documentKind } from "../../../src/libraries/ecosystem/document-kind.ts";
import { task } from "../../../src/libraries/reading/task.ts";
import type { OfferedToy } from "./offer.ts";

/** What an upstream lists of a toy, by its versions. */
export type ListKind = DocumentKind<Record<string, OfferedToy>, undefined>;

export const toyList = task("toy.list", async () => (await import("./render.ts")).renderList);
export const listDocument: ListKind = documentKind("toy.list", async () => (await import("./offer.ts")).listReader);
