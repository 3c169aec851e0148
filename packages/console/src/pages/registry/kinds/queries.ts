import { listRepos } from "../../../api/gen/registry.ts";
import { listQuery } from "../../../api/queries.ts";

const PAGE_SIZE = 200;

/** All images of a group and the groups below it, or all that the person may see. */
export function kindQuery(group: string) {
  return listQuery(listRepos, {
    orderBy: "name",
    pageSize: PAGE_SIZE,
    ...(group !== "" && { uidp: { descendantsOf: group } }),
  });
}
