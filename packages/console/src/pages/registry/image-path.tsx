import { useQuery } from "@tanstack/react-query";
import { listRepos } from "../../api/gen/registry.ts";
import { query } from "../../api/queries.ts";
import { parentUid } from "../../lib/uid.ts";
import { groupsAboveQuery } from "./queries.ts";

const FRESH_MS = 300_000;

/** The path of an image whose repo has this uid and name, such as `acme/team/app`; undefined until it is read. */
export function useImagePath(uid: string, name: string): string | undefined {
  // Repos of one group share the answer.
  const group = parentUid(uid);
  const { data } = useQuery({ ...groupsAboveQuery(`${group}/repo`), staleTime: FRESH_MS });
  if (data === undefined) return undefined;
  const groups = data.groups.toSorted((one, other) => one.uid.length - other.uid.length);
  return [...groups.map((each) => each.name), name].join("/");
}

/** The path of the image with this uid; undefined until it is read. */
export function useRepoPath(uid: string): string | undefined {
  const { data } = useQuery({ ...query(listRepos, { uidp: { ids: [uid] } }), staleTime: FRESH_MS });
  const name = data?.repos[0]?.name;
  const path = useImagePath(uid, name ?? "");
  return name === undefined ? undefined : path;
}
