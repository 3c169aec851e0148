import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { listRepos } from "../../api/gen/registry.ts";
import { query } from "../../api/queries.ts";
import { parentUid } from "../../lib/uid.ts";
import { groupsAboveQuery } from "./queries.ts";

const FRESH_MS = 300_000;

/** The path of an image whose repo has this uid and name, such as `acme/team/app`; undefined until it is read. */
function useImagePath(uid: string, name: string): string | undefined {
  // Repos of one group share the answer.
  const group = parentUid(uid);
  const { data } = useQuery({ ...groupsAboveQuery(`${group}/repo`), staleTime: FRESH_MS });
  if (data === undefined) return undefined;
  const groups = data.groups.toSorted((one, other) => one.uid.length - other.uid.length);
  return [...groups.map((each) => each.name), name].join("/");
}

/** A link to a repo by the path of its image. */
export function RepoLink({ uid, name }: { uid: string; name: string }) {
  const path = useImagePath(uid, name);
  return path === undefined ? (
    <span>{name}</span>
  ) : (
    <Link to="/repo" search={{ name: path }}>
      {path}
    </Link>
  );
}

/** A link to a tag of which only its uid and name are known. */
export function TagLink({ uid, name }: { uid: string; name: string }) {
  const repo = parentUid(uid);
  const { data } = useQuery({ ...query(listRepos, { uidp: { ids: [repo] } }), staleTime: FRESH_MS });
  const repoName = data?.repos[0]?.name;
  const path = useImagePath(repo, repoName ?? "");
  if (path === undefined || repoName === undefined) return <span>{name}</span>;
  return <a href={`/tag?name=${encodeURIComponent(`${path}:${name}`)}`}>{`${path}:${name}`}</a>;
}
