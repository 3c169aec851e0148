import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Section } from "../../../ui/page.tsx";
import { SessionTable } from "../../operations/session-table.tsx";
import { ProfileFrame } from "../profile-frame.tsx";

const route = getRouteApi("/shell/profile/sessions");

/** `/profile/sessions`: the browsers and programs in which the person is signed in. */
export function OwnSessionsPage() {
  const { order } = route.useSearch();
  const navigate = useNavigate();
  return (
    <ProfileFrame tabTitle="Your sessions">
      <Section title="Sessions">
        <p>Where you are signed in. End any session that you do not recognize or no longer use.</p>
        <SessionTable
          identity=""
          order={order}
          onOrder={(next) => void navigate({ to: "/profile/sessions", search: { order: next } })}
        />
      </Section>
    </ProfileFrame>
  );
}
