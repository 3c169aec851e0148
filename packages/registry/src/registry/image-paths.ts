import { ancestorsOf } from "@moorage/kernel/lib/uid";
import { type Database, select } from "@moorage/kernel/store";

const UIDS_PER_STATEMENT = 500;

/** Makes paths of images, as `acme/team/app`, for many repos of one call: the names of groups are read once. */
export interface ImagePaths {
  /** The paths of these repos, by uid. */
  of(repos: readonly { uid: string; name: string }[]): Promise<Map<string, string>>;
  /** The same for repos that only the uid is known of. One that does not exist has none. */
  ofUids(uids: readonly string[]): Promise<Map<string, string>>;
}

export function imagePaths(db: Database): ImagePaths {
  const groups = new Map<string, string>();
  const read = async (table: "groups" | "repos", uids: readonly string[]): Promise<{ uid: string; name: string }[]> => {
    const found: { uid: string; name: string }[] = [];
    for (let at = 0; at < uids.length; at += UIDS_PER_STATEMENT) {
      const some = uids.slice(at, at + UIDS_PER_STATEMENT);
      const marks = some.map(() => "?").join(", ");
      found.push(
        ...(await select<{ uid: string; name: string }>(
          db,
          `select uid, name from ${table} where uid in (${marks})`,
          some,
        )),
      );
    }
    return found;
  };
  const paths: ImagePaths = {
    async of(repos) {
      const missing = new Set(repos.flatMap(({ uid }) => ancestorsOf(uid)).filter((uid) => !groups.has(uid)));
      for (const { uid, name } of await read("groups", [...missing])) groups.set(uid, name);
      return new Map(
        repos.map(({ uid, name }) => [
          uid,
          [...ancestorsOf(uid).map((group) => groups.get(group) ?? ""), name].join("/"),
        ]),
      );
    },
    ofUids: async (uids) => await paths.of(await read("repos", [...new Set(uids)])),
  };
  return paths;
}
