import { queryOptions } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import { listGroups } from "../../api/gen/iam.ts";
import { getRepo } from "../../api/gen/registry.ts";

const FRESH_MS = 300_000;

/** The path of a repo by its uid, such as `acme/team/app`; its name alone where its groups may not be seen. */
export function repoPathQuery(uid: string) {
  return queryOptions({
    queryKey: ["path of repo", uid],
    queryFn: async ({ signal }) => {
      const parts = uid.split("/").slice(0, -1);
      const ids = parts.map((_, at) => parts.slice(0, at + 1).join("/"));
      const [{ name }, { groups }] = await Promise.all([
        call(getRepo, { uid }, { signal }),
        call(listGroups, { uidp: { ids }, pageSize: 200 }, { signal }),
      ]);
      const names = ids.flatMap((id) => groups.find((group) => group.uid === id)?.name ?? []);
      return [...names, name].join("/");
    },
    staleTime: FRESH_MS,
  });
}
