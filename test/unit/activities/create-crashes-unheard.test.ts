import { testCrashes } from '../../support/create-crash-walk';

// After an attempt whose claim was kept, and not answered.
testCrashes(true);
