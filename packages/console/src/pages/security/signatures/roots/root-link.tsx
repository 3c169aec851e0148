import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { allTrustRootsQuery } from "./queries.ts";
import { RootBadge } from "./root-state.tsx";

/** The trust root by which an identity is verified, with its state. */
export function RootLink({ uid }: { uid: string }) {
  const { data, isError } = useQuery(allTrustRootsQuery);
  if (uid === "") return <>the server's own, if its settings have one</>;
  if (isError) return <>not readable</>;
  if (data === undefined) return <>…</>;
  const root = data.find((each) => each.uid === uid);
  if (root === undefined) return <>a trust root that you cannot see</>;
  return (
    <>
      <Link to="/signatures/trust-root" search={{ uid }}>
        {root.name}
      </Link>{" "}
      <RootBadge root={root} />
    </>
  );
}
