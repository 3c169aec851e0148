import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { postAccount } from "../../api/account.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Frame } from "./frame.tsx";
import { goTo } from "./go.ts";
import { MakeProof } from "./make-proof.tsx";

/** `/sign-in/recover#<secret>`: makes a new passkey or password for an account whose old ones are lost. */
export function RecoverPage() {
  const [recovery] = useState(() => window.location.hash.slice(1));
  const { data, error } = useQuery({
    queryKey: ["recovery", recovery],
    retry: false,
    queryFn: () => postAccount<{ name: string; group: string }>("/session/account/offer", { recovery }),
  });
  return (
    <Frame title="Recover your account">
      <ErrorNote error={error} />
      {data !== undefined && (
        <MakeProof by={{ recovery }} isNew={false} action="Set the password" onDone={() => goTo("/")}>
          <p>
            This sets a new passkey or password for <strong>{data.name}</strong> of <strong>{data.group}</strong>. The
            old ones end, and so do all sessions.
          </p>
        </MakeProof>
      )}
    </Frame>
  );
}
