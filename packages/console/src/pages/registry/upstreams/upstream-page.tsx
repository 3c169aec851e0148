import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import type { RegistryUpstream } from "../../../api/gen/registry.ts";
import { bytes } from "../../../lib/bytes.ts";
import { parentUid } from "../../../lib/uid.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Note } from "../../../ui/note.tsx";
import { Card, Facts, Page } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { Place } from "../../access/parts/place.tsx";
import { RowActions } from "../../access/parts/row-actions.tsx";
import { FollowState } from "./follow-state.tsx";
import { POLL_MS, registryUpstreamQuery } from "./queries.ts";
import { UpstreamActions } from "./upstream-actions.tsx";
import { hasLimit } from "./upstream-forms.tsx";
import { howItAnswers, lengthWords, nameWords, rateWords } from "./upstream-words.ts";
import { UPSTREAMS } from "./upstreams-page.tsx";

const route = getRouteApi("/shell/images/upstream");

/** `/images/upstream`: a registry that a group stands for, and how it answers. */
export function UpstreamPage() {
  const { uid = "" } = route.useSearch();
  const navigate = useNavigate();
  const { data: upstream } = useSuspenseQuery({ ...registryUpstreamQuery(uid), refetchInterval: POLL_MS });
  const { word, look, detail } = howItAnswers(upstream);
  const toList = () => navigate({ to: "/images/upstreams" });
  const remove = {
    ...UPSTREAMS.remove,
    send: async (gone: string) => {
      await UPSTREAMS.remove.send(gone);
      await toList();
    },
  };
  return (
    <Page
      title={upstream.registry}
      lede={upstream.description || undefined}
      badges={<Badge look={look}>{word}</Badge>}
      actions={
        <>
          <UpstreamActions upstream={upstream} onGone={toList} />
          <RowActions spec={{ ...UPSTREAMS, remove }} row={upstream} />
        </>
      }
    >
      {detail !== "" && <Note look="warning">{detail}</Note>}
      <Card>
        <Facts facts={factsOf(upstream)} />
      </Card>
      <FollowState upstream={upstream} />
    </Page>
  );
}

function factsOf(upstream: RegistryUpstream) {
  const { uid, prefix, username, allowed, denied, allowedDigests, anonymousNetworks, rate } = upstream;
  return [
    ["Group", <Place key="group" uid={parentUid(uid)} />],
    ["Prefix", prefix && <code key="prefix">{prefix}</code>],
    ["User name there", username || "none"],
    ["Last success", <Time key="success" value={upstream.lastSuccessTime} none="not asked yet" />],
    ["Last error", upstream.lastErrorTime && <Time key="error" value={upstream.lastErrorTime} />],
    ["Requests left", rateWords(upstream)],
    ["More requests", rate?.resetTime && <Time key="reset" value={rate.resetTime} />],
    ["Allowed names", nameWords(allowed, "all")],
    ["Denied names", nameWords(denied, "none")],
    ["Tag time to live", lengthWords(upstream.tagTtl, "1 hour")],
    ["Time to live of what is missing", lengthWords(upstream.missingTtl, "1 minute")],
    ["Cooldown", lengthWords(upstream.cooldown, "none")],
    ["Digests exempt from the cooldown", nameWords(allowedDigests, "")],
    ["Keeps what nobody pulls", lengthWords(upstream.keepUnpulled, "forever")],
    ["Storage limit", hasLimit(upstream) ? bytes(upstream.maxBytes ?? 0) : "none"],
    ["Tag policy of new images", upstream.tagPolicy === undefined ? "none" : "set by the API or the command line"],
    ["Anonymous networks", nameWords(anonymousNetworks, "none")],
  ] as const;
}
