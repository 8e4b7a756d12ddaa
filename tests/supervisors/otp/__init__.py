"""The cases of supervisor_SUITE, one `test_otp_<case>` each, as far as they have a meaning here."""
