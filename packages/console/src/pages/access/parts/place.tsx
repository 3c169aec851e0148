import { Link } from "@tanstack/react-router";
import { usePaths } from "./data.ts";

/** A group by its path, as a link; without rights to see it, its name where that is known. */
export function Place({ uid, name = "" }: { uid: string; name?: string | undefined }) {
  const path = usePaths().get(uid);
  if (uid === "") return <>the installation</>;
  if (path === undefined) return <>{name || "a group that you cannot see"}</>;
  return (
    <Link to="/access/group" search={{ uid }}>
      {path}
    </Link>
  );
}
