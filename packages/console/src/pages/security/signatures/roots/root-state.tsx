import type { TrustRoot } from "../../../../api/gen/registry.ts";
import { Badge } from "../../../../ui/badge.tsx";
import { Time } from "../../../../ui/time.tsx";
import { rootState } from "./root-words.ts";
import styles from "./roots.module.css";

/** Whether identities are verified by the trust root, in a word. */
export function RootBadge({ root }: { root: TrustRoot }) {
  const { word, look } = rootState(root, Date.now());
  return <Badge look={look}>{word}</Badge>;
}

/** The state of a trust root in a list: with why it is not ready, or since when it is known to be. */
export function RootState({ root }: { root: TrustRoot }) {
  const { detail } = rootState(root, Date.now());
  return (
    <div className={styles.cell}>
      <span>
        <RootBadge root={root} />
      </span>
      <small title={detail}>
        {detail !== "" ? (
          detail
        ) : root.tuf === undefined ? (
          "pasted, does not renew itself"
        ) : (
          <>
            refreshed <Time value={root.refreshTime} />
          </>
        )}
      </small>
    </div>
  );
}
