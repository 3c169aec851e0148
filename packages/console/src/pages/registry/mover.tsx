import { useQuery } from "@tanstack/react-query";
import { getIdentity } from "../../api/gen/iam.ts";
import { query } from "../../api/queries.ts";
import { IdentityName, isMachine } from "../../lib/identity-name.tsx";
import { Avatar } from "../../ui/avatar.tsx";
import styles from "./tag-cells.module.css";

const BY_SERVER = ["mirror", "retention", "expire"];
const FRESH_MS = 300_000;

/** Who moved a tag. Only who may list the events of a repo sees that. */
export function Mover({ actor, reason }: { actor: string; reason: string }) {
  const { data } = useQuery({
    ...query(getIdentity, { uid: actor }),
    enabled: actor !== "",
    retry: false,
    staleTime: FRESH_MS,
  });
  if (actor !== "")
    return (
      <span className={styles.mover}>
        <Avatar
          name={data?.name || data?.email || actor}
          isMachine={data !== undefined && isMachine(data)}
          size="small"
        />
        <IdentityName uid={actor} />
      </span>
    );
  if (BY_SERVER.includes(reason)) return <span>the server</span>;
  return <span title="You need permission to list events here">not shown</span>;
}
