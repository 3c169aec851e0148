import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type InviteOffer, postAccount } from "../../api/account.ts";
import { call } from "../../api/call.ts";
import { acceptGroupInvite } from "../../api/gen/iam.ts";
import { readSession, type Session } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Note } from "../../ui/note.tsx";
import { Time } from "../../ui/time.tsx";
import { Frame } from "./frame.tsx";
import { goTo } from "./go.ts";
import { MakeProof } from "./make-proof.tsx";
import { loginPath } from "./login-path.ts";

/** `/invite#<code>`: says what the invite is for, and accepts it as who is signed in, or with a new account. */
export function InvitePage() {
  const [code] = useState(keptCode);
  const { data, error } = useQuery({
    queryKey: ["invite", code],
    retry: false,
    queryFn: async () => ({
      offer: await postAccount<InviteOffer>("/session/account/offer", { invite: code }),
      session: await readSession(),
    }),
  });
  return (
    <Frame title={data === undefined ? "Invite" : `Join ${data.offer.group}`}>
      <ErrorNote error={error} />
      {data !== undefined && <Offer code={code} {...data} />}
    </Frame>
  );
}

const KEY = "moorage.invite";

/** The code behind the #. It is kept for this tab while the person signs in: in an address it would go to servers. */
function keptCode(): string {
  const code = window.location.hash.slice(1);
  if (code !== "") sessionStorage.setItem(KEY, code);
  return code || (sessionStorage.getItem(KEY) ?? "");
}

function Offer({ code, offer, session }: { code: string; offer: InviteOffer; session: Session | undefined }) {
  const [isOther, setIsOther] = useState(false);
  const organization = offer.group.split("/", 1)[0];
  return (
    <>
      <p>
        You are invited to <strong>{offer.group}</strong> as <strong>{offer.role}</strong>
        {offer.roleDescription === "" ? "." : `: ${offer.roleDescription}.`} The invite ends{" "}
        <Time value={offer.expireTime} />.
      </p>
      {session !== undefined && !isOther ? (
        <AcceptAs code={code} session={session} onOther={offer.mayMake ? () => setIsOther(true) : undefined} />
      ) : offer.mayMake ? (
        <MakeProof by={{ invite: code }} isNew action="Create the account" onDone={() => goTo("/")} />
      ) : offer.isForAddress ? (
        <Note>
          The invite is for an e-mail address that an identity provider confirms. Sign in through the one of{" "}
          {organization}, then open the link again.
        </Note>
      ) : (
        <Note>Sign in through the identity provider of {organization}, then open the link again.</Note>
      )}
      {session === undefined && (
        <p>
          {offer.mayMake && "Already have an account? "}
          <a href={loginPath("/invite")}>Sign in</a>, then accept.
        </p>
      )}
    </>
  );
}

interface AcceptAsProps {
  code: string;
  session: Session;
  onOther: (() => void) | undefined;
}

function AcceptAs({ code, session, onOther }: AcceptAsProps) {
  const [state, setState] = useState<{ isBusy: boolean; error?: unknown }>({ isBusy: false });
  const accept = async (): Promise<void> => {
    setState({ isBusy: true });
    try {
      await call(acceptGroupInvite, { code });
      goTo("/");
    } catch (error) {
      setState({ isBusy: false, error });
    }
  };
  return (
    <>
      <ErrorNote error={state.error} />
      <Button look="primary" isBusy={state.isBusy} onClick={() => void accept()}>
        Accept as {session.name || session.identity}
      </Button>
      {onOther !== undefined && (
        <Button look="quiet" onClick={onOther}>
          I am someone else
        </Button>
      )}
    </>
  );
}
