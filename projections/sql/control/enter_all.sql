SELECT enter_projections()
