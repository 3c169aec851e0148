import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, useRouteContext } from "@tanstack/react-router";
import { Note } from "../../../ui/note.tsx";
import { Facts, Section, Stack } from "../../../ui/page.tsx";
import { say } from "../../../ui/toasts.tsx";
import { ProfileFrame } from "../profile-frame.tsx";
import { MakeProof } from "../../sign-in/make-proof.tsx";
import { Passkeys } from "./passkeys.tsx";
import { PasswordSection } from "./password-section.tsx";
import { accountQuery } from "./queries.ts";

const route = getRouteApi("/shell/profile");

/** `/profile`: what signs the person in, to be added, changed and removed. */
export function ProfilePage() {
  const { session } = useRouteContext({ from: "/shell" });
  const { first } = route.useSearch();
  const client = useQueryClient();
  const { data } = useSuspenseQuery(accountQuery);
  const changed = (): void => void client.invalidateQueries({ queryKey: accountQuery.queryKey });
  const { account, mayMake } = data;
  return (
    <ProfileFrame tabTitle="Profile">
      <Facts
        facts={[
          ["Signs in as", account?.name],
          ["E-mail", session.email],
          ["Uid", session.identity],
        ]}
      />
      {account !== null ? (
        <>
          <Passkeys account={account} onChanged={changed} />
          <PasswordSection account={account} onChanged={changed} />
        </>
      ) : mayMake ? (
        <Section title="Set up a passkey or a password">
          <Stack>
            <Note>
              {first !== undefined && "You signed in with the link from the first start. "}
              With a passkey or a password you sign in from any browser, without the machine of the server.
            </Note>
            <MakeProof
              by={{}}
              isNew
              action="Create the account"
              onDone={() => {
                say("From now on, sign in with it");
                changed();
              }}
            />
          </Stack>
        </Section>
      ) : (
        <Note>
          You sign in through an identity provider or with a token, so there are no passkeys or passwords to manage
          here.
        </Note>
      )}
    </ProfileFrame>
  );
}
