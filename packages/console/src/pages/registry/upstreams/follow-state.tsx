import type { RegistryUpstream } from "../../../api/gen/registry.ts";
import { count } from "../../../lib/bytes.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Card, Facts, Section } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { syncWord } from "../kinds/sync-words.ts";
import { followWords, lengthWords, missingWords } from "./upstream-words.ts";

/** What is copied of a registry without being pulled, how that goes, and what of it is missing here. */
export function FollowState({ upstream }: { upstream: RegistryUpstream }) {
  const { follow, followState, disabled } = upstream;
  return (
    <Section title="Copied without being pulled">
      {follow === undefined ? (
        <p>Nothing: an image comes when somebody pulls it.</p>
      ) : (
        <Card>
          <Facts
            facts={[
              ["What matches", followWords(upstream)],
              ["Every", lengthWords(follow.interval, "1 hour")],
              ["Tags deleted there", follow.exact ? <strong key="exact">are deleted here</strong> : "stay here"],
              ["State", disabled ? <Badge key="off">Off</Badge> : <Sync key="state" state={followState} />],
              ["Message", followState?.message],
              ["Missing here", missingWords(upstream)],
              ["Deletions held back", followState && follow.exact ? count(followState.heldDeletions) : undefined],
              ["Last complete turn", <Time key="success" value={followState?.lastSuccessTime} none="none yet" />],
              ["Last turn", <Time key="attempt" value={followState?.lastAttemptTime} none="none yet" />],
              ["Next", !disabled && followState?.nextTime && <Time key="next" value={followState.nextTime} />],
              [
                "Failures in a row",
                followState?.consecutiveFailures ? count(followState.consecutiveFailures) : undefined,
              ],
            ]}
          />
        </Card>
      )}
    </Section>
  );
}

function Sync({ state: followState }: { state: RegistryUpstream["followState"] }) {
  const [look, word] = syncWord(followState?.state ?? "SYNC_STATE_UNSPECIFIED");
  return <Badge look={look}>{word}</Badge>;
}
