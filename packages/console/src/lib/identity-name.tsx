import { useQuery } from "@tanstack/react-query";
import { getIdentity, type Identity } from "../api/gen/iam.ts";
import { query } from "../api/queries.ts";
import { shortUid } from "./uid.ts";

const FRESH_MS = 300_000;

/** Who an identity is, by name where the person may see it, as a link to it. */
export function IdentityName({ uid, none = "nobody" }: { uid: string; none?: string }) {
  const { data } = useQuery({ ...query(getIdentity, { uid }), enabled: uid !== "", staleTime: FRESH_MS });
  if (uid === "") return <span>{none}</span>;
  return (
    <a href={`/access/identity?uid=${encodeURIComponent(uid)}`} title={uid}>
      {data?.name || data?.email || shortUid(uid)}
    </a>
  );
}

/** Whether it is a program: people sign in through a provider or with an account, and have none of these. */
export function isMachine({ claimMatch, staticKeys, awsIdentity, servicePrincipal }: Identity): boolean {
  return [claimMatch, staticKeys, awsIdentity, servicePrincipal].some((each) => each !== undefined);
}
