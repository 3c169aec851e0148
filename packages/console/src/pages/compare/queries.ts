import { getDiff } from "../../api/gen/registry.ts";
import { listQuery } from "../../api/queries.ts";
import { splitReference } from "./names.ts";

const PAGE_SIZE = 200;

/** What differs between two images of a repo. */
export function diffQuery(repoUid: string, from: string, to: string) {
  return listQuery(getDiff, {
    repoUid,
    from: splitReference(from).reference,
    to: splitReference(to).reference,
    pageSize: PAGE_SIZE,
  });
}
